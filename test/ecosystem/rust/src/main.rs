//! Rust's `kube`: typed and dynamic calls, watches and stores, server-side apply, a derived definition with a controller, and streams into
//! a pod. `kube-program POD IMAGE`: a running pod as test/ecosystem/lib/shell-pods.mjs makes it, and the image that it runs.
mod controller;
mod objects;
mod streams;
mod watches;
mod workloads;

use anyhow::{Result, anyhow, bail};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::Client;
use kube::api::{Api, ObjectMeta, PostParams};
use kube::core::Status;
use std::future::Future;
use std::time::Duration;

pub const NAMESPACE: &str = "rust";

/// Says what holds, or fails.
pub fn check(what: &str, holds: bool) -> Result<()> {
    if !holds {
        bail!("not so: {what}");
    }
    println!("ok {what}");
    Ok(())
}

/// The Status that a call which has to fail was answered with.
pub fn refusal<T>(outcome: kube::Result<T>) -> Result<Status> {
    match outcome {
        Err(kube::Error::Api(status)) => Ok(*status),
        Err(error) => Err(error.into()),
        Ok(_) => Err(anyhow!("the call was not refused")),
    }
}

/// What a future answers within half a minute.
pub async fn soon<T>(what: &str, pending: impl Future<Output = T>) -> Result<T> {
    tokio::time::timeout(Duration::from_secs(30), pending).await.map_err(|_| anyhow!("not so in time: {what}"))
}

pub fn config_map(name: &str, value: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta { name: Some(name.into()), labels: Some([("value".into(), value.into())].into()), ..Default::default() },
        data: Some([("a".into(), value.into())].into()),
        ..Default::default()
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [pod, image] = arguments.as_slice() else { bail!("kube-program POD IMAGE") };
    let client = Client::try_default().await?;
    let namespace = Namespace { metadata: ObjectMeta { name: Some(NAMESPACE.into()), ..Default::default() }, ..Default::default() };
    Api::all(client.clone()).create(&PostParams::default(), &namespace).await?;
    objects::run(&client).await?;
    watches::run(&client).await?;
    controller::run(&client).await?;
    workloads::run(&client, image).await?;
    streams::run(&client, pod).await
}
