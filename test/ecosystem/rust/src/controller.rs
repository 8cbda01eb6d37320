//! A definition derived from Rust types, and a controller for it: finalizers, owned objects, events.
use crate::{NAMESPACE, check, refusal, soon};
use anyhow::Result;
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::events::v1::Event as Told;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, ResourceExt};
use kube::runtime::controller::Action;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::runtime::finalizer::{Event as Finalizing, finalizer};
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::{Controller, watcher};
use kube::{Client, CustomResource, CustomResourceExt, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const FINALIZER: &str = "boats.rust.example.com/sunk";

#[derive(CustomResource, Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[kube(group = "rust.example.com", version = "v1", kind = "Boat", namespaced, status = "BoatStatus", shortname = "bo")]
#[kube(printcolumn(name = "Masts", type_ = "integer", json_path = ".spec.masts"))]
#[kube(scale(spec_replicas_path = ".spec.masts", status_replicas_path = ".status.set"))]
#[serde(rename_all = "camelCase")]
pub struct BoatSpec {
    #[schemars(range(min = 1, max = 5))]
    masts: i32,
    #[serde(default = "white")]
    colour: Option<String>,
}

#[derive(Deserialize, Serialize, Clone, Debug, Default, JsonSchema)]
pub struct BoatStatus {
    set: i32,
}

fn white() -> Option<String> {
    Some("white".into())
}

pub async fn run(client: &Client) -> Result<()> {
    defined(client).await?;
    custom(&Api::namespaced(client.clone(), NAMESPACE)).await?;
    controlled(client).await
}

async fn defined(client: &Client) -> Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    definitions.patch("boats.rust.example.com", &PatchParams::apply("rust").force(), &Patch::Apply(Boat::crd())).await?;
    let established = await_condition(definitions, "boats.rust.example.com", conditions::is_crd_established());
    check("a derived definition is established", soon("established", established).await??.is_some())
}

async fn custom(boats: &Api<Boat>) -> Result<()> {
    let made = boats.create(&PostParams::default(), &Boat::new("one", BoatSpec { masts: 2, colour: white() })).await?;
    check("a custom object", made.spec.masts == 2)?;
    let plain = PatchParams::apply("rust");
    let bare = json!({"apiVersion": "rust.example.com/v1", "kind": "Boat", "metadata": {"name": "bare"}, "spec": {"masts": 1}});
    let bare = boats.patch("bare", &plain, &Patch::Apply(bare)).await?;
    check("a default of the schema", bare.spec.colour == white())?;
    let wrong = refusal(boats.create(&PostParams::default(), &Boat::new("wrong", BoatSpec { masts: 9, colour: None })).await)?;
    check("the schema refuses", wrong.is_invalid() && wrong.message.contains("spec.masts"))?;
    let status = boats.patch_status("one", &PatchParams::default(), &Patch::Merge(json!({"status": {"set": 2}, "spec": {"masts": 4}}))).await?;
    let apart = status.spec.masts == 2 && status.status.is_some_and(|status| status.set == 2);
    check("a status is changed by itself", apart && status.metadata.generation == made.metadata.generation)?;
    let scale = boats.get_scale("one").await?;
    let replicas = (scale.spec.and_then(|spec| spec.replicas), scale.status.map(|status| status.replicas));
    check("a scale of custom objects", replicas == (Some(2), Some(2)))?;
    boats.patch_scale("one", &PatchParams::default(), &Patch::Merge(json!({"spec": {"replicas": 3}}))).await?;
    check("scaling", boats.get("one").await?.spec.masts == 3)
}

struct Context {
    client: Client,
    recorder: Recorder,
}

type Failure = kube::runtime::finalizer::Error<kube::Error>;

/// A boat has a ConfigMap of its name with the number of its masts, as long as it is there.
async fn reconcile(boat: Arc<Boat>, context: Arc<Context>) -> Result<Action, Failure> {
    let boats: Api<Boat> = Api::namespaced(context.client.clone(), NAMESPACE);
    let maps: Api<ConfigMap> = Api::namespaced(context.client.clone(), NAMESPACE);
    let (maps, recorder) = (&maps, &context.recorder);
    finalizer(&boats, FINALIZER, boat, |event| async move {
        let (boat, reason) = match &event {
            Finalizing::Apply(boat) => (boat, "Set"),
            Finalizing::Cleanup(boat) => (boat, "Sunk"),
        };
        if let Finalizing::Apply(boat) = &event {
            let name = boat.name_any();
            let owners = [boat.controller_owner_ref(&())];
            let map =
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "ownerReferences": owners}, "data": {"masts": boat.spec.masts.to_string()}});
            maps.patch(&name, &PatchParams::apply("boats").force(), &Patch::Apply(map)).await?;
        }
        let event = Event { type_: EventType::Normal, reason: reason.into(), note: None, action: "Reconcile".into(), secondary: None };
        recorder.publish(&event, &boat.object_ref(&())).await?;
        Ok(Action::await_change())
    })
    .await
}

async fn until(what: &str, mut check: impl AsyncFnMut() -> Result<bool>) -> Result<()> {
    let pending = async {
        while !check().await? {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        anyhow::Ok(())
    };
    soon(what, pending).await??;
    crate::check(what, true)
}

async fn controlled(client: &Client) -> Result<()> {
    let boats: Api<Boat> = Api::namespaced(client.clone(), NAMESPACE);
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let recorder = Recorder::new(client.clone(), Reporter { controller: "boats".into(), instance: Some("one".into()) });
    let context = Arc::new(Context { client: client.clone(), recorder });
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let controller = Controller::new(boats.clone(), watcher::Config::default())
        .owns(maps.clone(), watcher::Config::default())
        .graceful_shutdown_on(async { stopped.await.unwrap_or_default() })
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_millis(200)), context);
    let running = tokio::spawn(controller.for_each(|_| std::future::ready(())));
    // The ConfigMap "one" is not the controller's: it takes it over.
    let masts = async |name: &str| anyhow::Ok(maps.get_opt(name).await?.and_then(|map| map.data).and_then(|data| data.get("masts").cloned()));
    until("a controller makes what an object owns", async || Ok(masts("one").await?.as_deref() == Some("3"))).await?;
    boats.patch("one", &PatchParams::default(), &Patch::Merge(json!({"spec": {"masts": 5}}))).await?;
    until("a controller follows its objects", async || Ok(masts("one").await?.as_deref() == Some("5"))).await?;
    maps.delete("bare", &DeleteParams::default()).await.ok();
    until("a controller makes again what was deleted", async || Ok(masts("bare").await?.is_some())).await?;
    for name in ["one", "bare"] {
        boats.delete(name, &DeleteParams::default()).await?;
    }
    until("a finalizer lets the objects go", async || Ok(boats.list(&ListParams::default()).await?.items.is_empty())).await?;
    until("what an object owned goes with it", async || Ok(maps.get_opt("one").await?.is_none())).await?;
    let events: Api<Told> = Api::namespaced(client.clone(), NAMESPACE);
    let told = events.list(&ListParams::default().fields("reportingController=boats")).await?;
    let reasons: Vec<_> = told.items.iter().filter_map(|event| event.reason.as_deref()).collect();
    check("events of a controller", reasons.contains(&"Set") && reasons.contains(&"Sunk"))?;
    stop.send(()).ok();
    soon("the controller ends", running).await??;
    check("a controller ends when it is told to", true)
}
