//! Streams into a pod, over WebSocket: logs, exec, attach, forwarded ports.
use crate::{check, soon};
use anyhow::{Result, anyhow};
use futures::{AsyncBufReadExt, TryStreamExt};
use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use kube::api::{Api, AttachParams, AttachedProcess, LogParams, TerminalSize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const LARGE: usize = 4 << 20;

pub async fn run(client: &Client, pod: &str) -> Result<()> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), "default");
    executed(&pods, pod).await?;
    attached(&pods, pod).await?;
    forwarded(&pods, pod).await
}

fn in_web() -> AttachParams {
    AttachParams::default().container("web")
}

async fn whole(mut process: AttachedProcess) -> Result<(String, String, i32)> {
    let (mut out, mut err) = (String::new(), String::new());
    if let Some(mut stream) = process.stdout() {
        stream.read_to_string(&mut out).await?;
    }
    if let Some(mut stream) = process.stderr() {
        stream.read_to_string(&mut err).await?;
    }
    let status = process.take_status().ok_or_else(|| anyhow!("no status"))?.await.ok_or_else(|| anyhow!("no status came"))?;
    let succeeded = status.status.as_deref() == Some("Success");
    let causes = status.details.map(|details| details.causes).unwrap_or_default();
    let code = causes.into_iter().flatten().find(|cause| cause.reason.as_deref() == Some("ExitCode")).and_then(|cause| cause.message);
    process.join().await?;
    Ok((out, err, code.map_or(Ok(if succeeded { 0 } else { -1 }), |code| code.parse())?))
}

async fn executed(pods: &Api<Pod>, pod: &str) -> Result<()> {
    let process = pods.exec(pod, ["sh", "-c", "echo out; echo err >&2; exit 7"], &in_web()).await?;
    check("exec tells both streams and the exit code", soon("exec", whole(process)).await?? == ("out\n".into(), "err\n".into(), 7))?;
    let process = pods.exec(pod, ["sh", "-c", &format!("head -c {LARGE} /dev/zero | tr '\\0' x")], &in_web()).await?;
    let (out, _, code) = soon("exec of much", whole(process)).await??;
    check("exec of 4 MiB is whole", out.len() == LARGE && code == 0)?;
    let mut process = pods.exec(pod, ["sh", "-c", "wc -c"], &in_web().stdin(true)).await?;
    let mut input = process.stdin().ok_or_else(|| anyhow!("no standard input"))?;
    input.write_all(&vec![b'x'; LARGE]).await?;
    input.shutdown().await?;
    drop(input);
    let (out, _, _) = soon("input to its end", whole(process)).await??;
    check("standard input of 4 MiB is whole, and its end is told", out.trim() == LARGE.to_string())?;
    let mut process = pods.exec(pod, ["sh", "-c", "sleep 1; stty size"], &AttachParams::interactive_tty().container("web")).await?;
    let mut size = process.terminal_size().ok_or_else(|| anyhow!("no terminal"))?;
    futures::SinkExt::send(&mut size, TerminalSize { width: 111, height: 33 }).await?;
    let (out, _, _) = soon("a terminal", whole(process)).await??;
    check("a terminal has the size that it is told", out.trim() == "33 111")?;
    let process = pods.exec(pod, ["/not/there"], &in_web()).await?;
    check("a program that is not there fails", soon("exec of nothing", whole(process)).await??.2 == -1)
}

async fn attached(pods: &Api<Pod>, pod: &str) -> Result<()> {
    let follow = LogParams { container: Some("echo".into()), follow: true, ..Default::default() };
    let mut lines = pods.log_stream(pod, &follow).await?.lines();
    let mut process = pods.attach(pod, &AttachParams::default().container("echo").stdin(true)).await?;
    let mut input = process.stdin().ok_or_else(|| anyhow!("no standard input"))?;
    input.write_all(b"one\ntwo\n").await?;
    let mut out = process.stdout().ok_or_else(|| anyhow!("no standard output"))?;
    let mut heard = [0; 20];
    soon("attach answers", out.read_exact(&mut heard)).await??;
    check("attach", &heard == b"heard one\nheard two\n")?;
    process.abort();
    let told = [soon("a line", lines.try_next()).await??, soon("a line", lines.try_next()).await??];
    check("logs are followed", told == [Some("heard one".into()), Some("heard two".into())])?;
    let last = LogParams { container: Some("echo".into()), tail_lines: Some(1), timestamps: true, ..Default::default() };
    let last = pods.logs(pod, &last).await?;
    check("the last line with its time", last.ends_with("Z heard two\n") && last.lines().count() == 1)
}

async fn forwarded(pods: &Api<Pod>, pod: &str) -> Result<()> {
    let mut forwarder = pods.portforward(pod, &[8080, 8081]).await?;
    let refused = forwarder.take_error(8081).ok_or_else(|| anyhow!("no errors"))?;
    let mut served = forwarder.take_stream(8080).ok_or_else(|| anyhow!("no stream"))?;
    served.write_all(b"GET / HTTP/1.0\r\n\r\n").await?;
    let mut answer = String::new();
    soon("an answer", served.read_to_string(&mut answer)).await??;
    check("a forwarded port answers", answer.ends_with("served\n"))?;
    drop(served);
    let error = soon("an error", refused).await?.unwrap_or_default();
    check("a port that nobody listens on tells why", error.contains("8081"))?;
    forwarder.abort();
    Ok(())
}
