// The streams of a pod as client-go opens them: exec, attach and port-forward, each over SPDY and over WebSocket, logs that are followed. Prints a line for
// each thing that works and fails with the first that does not.
//
//	go run ./streams KUBECONFIG NAMESPACE POD
//
// The pod's first container answers HTTP on port 8080, the one named "echo" repeats each line of its standard input after the word "heard".
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/client-go/util/exec"
)

const (
	throughput  = 8 << 20
	connections = 20
)

func expect(what string, holds bool, found ...any) {
	if !holds {
		fmt.Printf("FAILED %s: %v\n", what, found)
		os.Exit(1)
	}
	fmt.Printf("ok %s\n", what)
}

func must(what string, err error) { expect(what, err == nil, err) }

// pod is a pod, and one of the two ways to reach it.
type pod struct {
	config    *rest.Config
	client    *kubernetes.Clientset
	namespace string
	name      string
	way       string
}

func (p pod) request(subresource string) *rest.Request {
	return p.client.CoreV1().RESTClient().Post().Resource("pods").Namespace(p.namespace).Name(p.name).SubResource(subresource)
}

func (p pod) says(what string) string { return p.way + ": " + what }

func (p pod) executor(request *rest.Request) remotecommand.Executor {
	var executor remotecommand.Executor
	var err error
	if p.way == "SPDY" {
		executor, err = remotecommand.NewSPDYExecutor(p.config, http.MethodPost, request.URL())
	} else {
		executor, err = remotecommand.NewWebSocketExecutor(p.config, http.MethodGet, request.URL().String())
	}
	must(p.says("executor"), err)
	return executor
}

func (p pod) exec(ctx context.Context, options remotecommand.StreamOptions, command ...string) error {
	request := p.request("exec").VersionedParams(&corev1.PodExecOptions{
		Container: "web", Command: command, TTY: options.Tty,
		Stdin: options.Stdin != nil, Stdout: options.Stdout != nil, Stderr: options.Stderr != nil,
	}, scheme.ParameterCodec)
	return p.executor(request).StreamWithContext(ctx, options)
}

func (p pod) execs(ctx context.Context) {
	var out, errs bytes.Buffer
	err := p.exec(ctx, remotecommand.StreamOptions{Stdout: &out, Stderr: &errs}, "sh", "-c", "echo out; echo err >&2; exit 3")
	var code exec.CodeExitError
	expect(p.says("the exit code arrives"), errors.As(err, &code) && code.Code == 3, err)
	expect(p.says("both outputs, apart"), out.String() == "out\n" && errs.String() == "err\n", out.String(), errs.String())

	sent := make([]byte, throughput)
	_, err = rand.Read(sent)
	must(p.says("random bytes"), err)
	out.Reset()
	must(p.says("bytes go through cat"), p.exec(ctx, remotecommand.StreamOptions{Stdin: bytes.NewReader(sent), Stdout: &out}, "cat"))
	expect(p.says("all bytes come back"), sha256.Sum256(out.Bytes()) == sha256.Sum256(sent), out.Len())

	out.Reset()
	sized := "until [ \"$(stty size)\" = '40 100' ]; do sleep 0.1; done; tty; echo sized"
	// With the end of its input a terminal's output would end, too.
	silent, keyboard := io.Pipe()
	defer keyboard.Close()
	must(p.says("terminal"), p.exec(ctx, remotecommand.StreamOptions{Stdin: silent, Stdout: &out, Tty: true, TerminalSizeQueue: &once{size: &remotecommand.TerminalSize{Width: 100, Height: 40}}}, "sh", "-c", sized))
	expect(p.says("the terminal has the size"), strings.Contains(out.String(), "/dev/pts/") && strings.HasSuffix(out.String(), "sized\r\n"), out.String())

	err = p.exec(ctx, remotecommand.StreamOptions{Stdout: io.Discard, Stderr: io.Discard}, "no-such-program")
	expect(p.says("what cannot be started is an error"), err != nil && strings.Contains(err.Error(), "no-such-program"), err)

	short, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	started := time.Now()
	err = p.exec(short, remotecommand.StreamOptions{Stdout: io.Discard}, "sleep", "600")
	expect(p.says("an end by the client"), err != nil && time.Since(started) < 20*time.Second, err)
}

// once is a terminal that is sized one time.
type once struct{ size *remotecommand.TerminalSize }

func (o *once) Next() *remotecommand.TerminalSize {
	size := o.size
	o.size = nil
	return size
}

func (p pod) attaches(ctx context.Context) {
	run, end := context.WithCancel(ctx)
	defer end()
	input, keyboard := io.Pipe()
	screen, output := io.Pipe()
	request := p.request("attach").VersionedParams(&corev1.PodAttachOptions{Container: "echo", Stdin: true, Stdout: true, Stderr: true}, scheme.ParameterCodec)
	executor := p.executor(request)
	go func() {
		err := executor.StreamWithContext(run, remotecommand.StreamOptions{Stdin: input, Stdout: output, Stderr: io.Discard})
		output.CloseWithError(fmt.Errorf("attach ended: %w", errors.Join(err, io.EOF)))
	}()
	go func() { _, _ = keyboard.Write([]byte("hello by " + p.way + "\n")) }()
	line, err := bufio.NewReader(screen).ReadString('\n')
	expect(p.says("attach"), err == nil && line == "heard hello by "+p.way+"\n", line, err)
}

func (p pod) dialer() httpstream.Dialer {
	url := p.request("portforward").URL()
	if p.way == "WebSocket" {
		dialer, err := portforward.NewSPDYOverWebsocketDialer(url, p.config)
		must(p.says("dialer"), err)
		return dialer
	}
	transport, upgrader, err := spdy.RoundTripperFor(p.config)
	must(p.says("dialer"), err)
	return spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, url)
}

func (p pod) forwards() {
	stop, ready := make(chan struct{}), make(chan struct{})
	told := make(chan error, connections)
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(_ context.Context, err error, _ string, _ ...any) { told <- err }}
	forwarder, err := portforward.New(p.dialer(), []string{"0:8080", "0:9"}, stop, ready, io.Discard, io.Discard)
	must(p.says("port-forward"), err)
	ended := make(chan error, 1)
	go func() { ended <- forwarder.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-ended:
		must(p.says("port-forward is ready"), err)
	}
	ports, err := forwarder.GetPorts()
	must(p.says("forwarded ports"), err)
	var group sync.WaitGroup
	failures := make(chan error, connections)
	for range connections {
		group.Go(func() { failures <- get(ports[0].Local) })
	}
	group.Wait()
	for range connections {
		if err := <-failures; err != nil {
			must(p.says("connections through it"), err)
		}
	}
	expect(p.says("connections through it"), true)
	expect(p.says("nobody listens at the other port"), get(ports[1].Local) != nil)
	expect(p.says("and why is told"), refusal(told))
	// This client gives up the whole connection after that.
	expect(p.says("port-forward ends"), errors.Is(<-ended, portforward.ErrLostConnectionToPod))
}

// refusal waits for the error of a port; what was given up before may tell of its end meanwhile.
func refusal(told <-chan error) bool {
	for {
		select {
		case err := <-told:
			if strings.Contains(err.Error(), "an error occurred forwarding") {
				return strings.Contains(err.Error(), "refused")
			}
		case <-time.After(20 * time.Second):
			return false
		}
	}
}

// get is one request over a connection of its own.
func get(port uint16) error {
	client := http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/", port))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || string(body) != "served\n" {
		return fmt.Errorf("%q: %w", body, errors.Join(err))
	}
	return nil
}

func logs(ctx context.Context, p pod) {
	stream, err := p.client.CoreV1().Pods(p.namespace).GetLogs(p.name, &corev1.PodLogOptions{Container: "echo", Follow: true}).Stream(ctx)
	must("logs that are followed", err)
	defer stream.Close()
	lines := bufio.NewScanner(stream)
	for _, wanted := range []string{"heard hello by SPDY", "heard hello by WebSocket"} {
		expect("logs tell "+wanted, lines.Scan() && lines.Text() == wanted, lines.Text(), lines.Err())
	}
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	must("kubeconfig", err)
	client, err := kubernetes.NewForConfig(config)
	must("client", err)
	for _, way := range []string{"SPDY", "WebSocket"} {
		one := pod{config: config, client: client, namespace: os.Args[2], name: os.Args[3], way: way}
		one.execs(ctx)
		one.attaches(ctx)
		one.forwards()
	}
	logs(ctx, pod{client: client, namespace: os.Args[2], name: os.Args[3]})
}
