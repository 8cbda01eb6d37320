//! Workloads: waits, scales, restarts, cordons, budgets of disruption.
use crate::{NAMESPACE, check, refusal, soon};
use anyhow::{Result, anyhow};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::api::{Api, DeleteParams, EvictParams, ListParams, Patch, PatchParams, PostParams, ResourceExt};
use kube::runtime::wait::{await_condition, conditions};
use kube::{Client, Config};
use serde_json::{Value, json};

fn template(image: &str, command: &str, restart: &str) -> Value {
    let container = json!({"name": "a", "image": image, "imagePullPolicy": "Never", "command": ["sh", "-c", command]});
    json!({"metadata": {"labels": {"app": "rust"}}, "spec": {"restartPolicy": restart, "terminationGracePeriodSeconds": 0, "containers": [container]}})
}

pub async fn run(client: &Client, image: &str) -> Result<()> {
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), NAMESPACE);
    let spec = json!({"replicas": 2, "selector": {"matchLabels": {"app": "rust"}}, "template": template(image, "sleep 100000", "Always")});
    let deployment = serde_json::from_value(json!({"metadata": {"name": "rust"}, "spec": spec}))?;
    deployments.create(&PostParams::default(), &deployment).await?;
    let complete =
        || async { soon("completed", await_condition(deployments.clone(), "rust", conditions::is_deployment_completed())).await?.map_err(anyhow::Error::from) };
    check("a deployment is waited for", complete().await?.is_some())?;
    deployments.patch_scale("rust", &PatchParams::default(), &Patch::Merge(json!({"spec": {"replicas": 1}}))).await?;
    complete().await?;
    check("a deployment is scaled", deployments.get_scale("rust").await?.status.is_some_and(|status| status.replicas <= 2))?;
    let before = deployments.get("rust").await?.metadata.generation;
    deployments.restart("rust").await?;
    check("a restart is another generation", complete().await?.and_then(|one| one.metadata.generation) > before)?;
    evicted(client).await?;
    deployments.delete("rust", &DeleteParams::foreground()).await?;
    worked(client, image).await?;
    cordoned(client).await
}

/// The name of the only pod, once the others are gone.
async fn only(pods: &Api<Pod>) -> Result<String> {
    loop {
        if let [pod] = pods.list(&ListParams::default().labels("app=rust")).await?.items.as_slice() {
            return Ok(pod.name_any());
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

async fn evicted(client: &Client) -> Result<()> {
    let budgets: Api<PodDisruptionBudget> = Api::namespaced(client.clone(), NAMESPACE);
    let pods: Api<Pod> = Api::namespaced(client.clone(), NAMESPACE);
    let budget = json!({"metadata": {"name": "rust"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "rust"}}}});
    budgets.create(&PostParams::default(), &serde_json::from_value(budget)?).await?;
    let observed = |one: Option<&PodDisruptionBudget>| one.and_then(|one| one.status.as_ref()).is_some_and(|status| status.observed_generation.is_some());
    soon("the budget is counted", await_condition(budgets.clone(), "rust", observed)).await??;
    let one = soon("one pod is left", only(&pods)).await??;
    // By itself it asks again as long as the budget does not allow it.
    let mut impatient = Config::infer().await?;
    impatient.default_retry = false;
    let status = refusal(Api::<Pod>::namespaced(Client::try_from(impatient)?, NAMESPACE).evict(&one, &EvictParams::default()).await)?;
    let cause = status.details.and_then(|details| details.causes.first().map(|cause| cause.reason.clone()));
    check("a budget refuses an eviction", status.code == 429 && cause.as_deref() == Some("DisruptionBudget"))?;
    budgets.delete("rust", &DeleteParams::default()).await?;
    check("without it the pod is evicted", pods.evict(&one, &EvictParams::default()).await?.is_success())
}

async fn worked(client: &Client, image: &str) -> Result<()> {
    let jobs: Api<Job> = Api::namespaced(client.clone(), NAMESPACE);
    let job = json!({"metadata": {"name": "rust"}, "spec": {"template": template(image, "echo done", "Never")}});
    jobs.create(&PostParams::default(), &serde_json::from_value(job)?).await?;
    let done = soon("the job completes", await_condition(jobs.clone(), "rust", conditions::is_job_completed())).await??;
    check("a job is waited for", done.and_then(|job| job.status).is_some_and(|status| status.succeeded == Some(1)))?;
    jobs.delete("rust", &DeleteParams::background()).await?;
    Ok(())
}

async fn cordoned(client: &Client) -> Result<()> {
    let nodes: Api<Node> = Api::all(client.clone());
    let name = nodes.list(&ListParams::default()).await?.items.first().ok_or_else(|| anyhow!("no node"))?.name_any();
    let unschedulable = |node: Node| node.spec.and_then(|spec| spec.unschedulable) == Some(true);
    check("a node is cordoned", unschedulable(nodes.cordon(&name).await?))?;
    check("a node is let in again", !unschedulable(nodes.uncordon(&name).await?))
}
