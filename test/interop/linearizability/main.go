// Clients that swap and write ConfigMaps of one API all at once, whatever becomes of it meanwhile, and a check of all that they saw: is there an order of
// their operations, one after the other, that explains every answer (linearizability, by porcupine)? Prints one line of JSON.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	first = "0"
	// A round has keys of its own: operations that never had an answer weigh on the check of their round alone.
	roundLength   = 5 * time.Second
	keysPerRound  = 16
	answerTimeout = 5 * time.Second
	checkTimeout  = 5 * time.Minute
)

type object struct {
	Metadata struct {
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion,omitempty"`
	} `json:"metadata"`
	Data map[string]string `json:"data"`
}

func configMap(key, value, version string) object {
	o := object{Data: map[string]string{"value": value}}
	o.Metadata.Name, o.Metadata.ResourceVersion = key, version
	return o
}

type client struct {
	id         int
	http       *http.Client
	collection string
	random     *rand.Rand
	began      time.Time
	history    []porcupine.Operation
	// lost are those whose end is the end of all.
	lost   []int
	serial int
}

// call gives status 0 where no answer came.
func (c *client) call(method, path string, body any) (int, object) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	text, _ := json.Marshal(body)
	request, err := http.NewRequestWithContext(ctx, method, c.collection+path, bytes.NewReader(text))
	if err != nil {
		return 0, object{}
	}
	request.Header.Set("content-type", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return 0, object{}
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	var got object
	if err != nil || response.StatusCode < 300 && json.Unmarshal(answer, &got) != nil {
		return 0, object{}
	}
	return response.StatusCode, got
}

func (c *client) do(in input) output {
	call := time.Since(c.began).Nanoseconds()
	var status int
	var got object
	if in.kind == read {
		status, got = c.call("GET", "/"+in.key, nil)
	} else {
		status, got = c.call("PUT", "/"+in.key, configMap(in.key, in.value, in.version))
	}
	out := output{lost, got.Data["value"], got.Metadata.ResourceVersion}
	if status == http.StatusOK {
		out.outcome = done
	} else if in.kind == swap && status == http.StatusConflict {
		out.outcome = refused
	}
	if in.kind == read && out.outcome == lost {
		return out
	}
	if out.outcome == lost {
		c.lost = append(c.lost, len(c.history))
	}
	end := time.Since(c.began).Nanoseconds()
	c.history = append(c.history, porcupine.Operation{ClientId: c.id, Input: in, Call: call, Output: out, Return: end})
	return out
}

// turn is one round of a client with one key, a counter or a register.
func (c *client) turn(key string, counter bool) {
	if !counter && c.random.Intn(2) == 0 {
		c.serial++
		c.do(input{key: key, kind: write, value: fmt.Sprintf("%d-%d", c.id, c.serial)})
		return
	}
	seen := c.do(input{key: key, kind: read})
	if counter && seen.outcome == done {
		count, _ := strconv.Atoi(seen.value)
		c.do(input{key: key, kind: swap, version: seen.version, value: strconv.Itoa(count + 1)})
	}
}

func (c *client) run(prepared <-chan []string, length, pause time.Duration) {
	for keys := range prepared {
		for end := time.Now().Add(length); time.Now().Before(end); {
			at := c.random.Intn(len(keys))
			c.turn(keys[at], at%2 == 0)
			time.Sleep(time.Duration(c.random.Int63n(int64(2 * pause))))
		}
	}
}

// create makes an object that has first in it, however often it has to ask.
func (c *client) create(key string) {
	for {
		status, _ := c.call("POST", "", configMap(key, first, ""))
		if status == http.StatusCreated || status == http.StatusConflict {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func transport(ca, cert, key string) (*tls.Config, error) {
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	pair, err := tls.LoadX509KeyPair(cert, key)
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}}, err
}

func main() {
	server := flag.String("server", "", "URL of the API")
	ca := flag.String("ca", "", "file of its authority")
	cert := flag.String("cert", "", "file of a client certificate")
	key := flag.String("key", "", "file of its key")
	seed := flag.Int64("seed", 1, "of all chance")
	count := flag.Int("clients", 64, "how many ask at once")
	length := flag.Duration("for", time.Minute, "how long they ask")
	pause := flag.Duration("pause", 100*time.Millisecond, "between two operations of a client, on average")
	flag.Parse()
	config, err := transport(*ca, *cert, *key)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	began := time.Now()
	clients := make([]*client, *count)
	rounds := make([]chan []string, *count)
	newClient := func(id int) *client {
		random := rand.New(rand.NewSource(*seed<<16 + int64(id)))
		own := &http.Client{Transport: &http.Transport{TLSClientConfig: config.Clone()}}
		return &client{id: id, http: own, collection: *server + "/api/v1/namespaces/default/configmaps", random: random, began: began}
	}
	var working sync.WaitGroup
	for id := range clients {
		clients[id], rounds[id] = newClient(id), make(chan []string)
		working.Add(1)
		go func() {
			defer working.Done()
			clients[id].run(rounds[id], roundLength, *pause)
		}()
	}
	maker := newClient(*count)
	for round := 0; time.Since(began) < *length; round++ {
		var keys []string
		for number := range keysPerRound {
			keys = append(keys, fmt.Sprintf("linear-%d-%d-%d", *seed, round, number))
			maker.create(keys[number])
		}
		for id := range clients {
			rounds[id] <- keys
		}
	}
	for id := range clients {
		close(rounds[id])
	}
	working.Wait()
	judge(clients, time.Since(began))
}

func judge(clients []*client, took time.Duration) {
	var history []porcupine.Operation
	unanswered := 0
	for _, c := range clients {
		for _, at := range c.lost {
			c.history[at].Return = took.Nanoseconds()
		}
		unanswered += len(c.lost)
		history = append(history, c.history...)
	}
	verdict := porcupine.CheckOperationsTimeout(model(first), history, checkTimeout)
	line, _ := json.Marshal(map[string]any{
		"verdict": verdict, "operations": len(history), "unanswered": unanswered, "seconds": int(took.Seconds()),
	})
	fmt.Println(string(line))
	if verdict != porcupine.Ok {
		os.Exit(1)
	}
}
