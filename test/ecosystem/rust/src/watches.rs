//! Watches: a plain one, watchers by list and by a streamed list, and a store that a reflector fills.
use crate::{NAMESPACE, check, config_map, refusal, soon};
use anyhow::{Result, anyhow};
use futures::{Stream, StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, ResourceExt, WatchEvent, WatchParams};
use kube::runtime::watcher::{self, Event, watcher};
use kube::runtime::{WatchStreamExt, reflector};
use serde_json::json;
use std::time::Duration;

pub async fn run(client: &Client) -> Result<()> {
    let maps = Api::namespaced(client.clone(), NAMESPACE);
    watched(&maps).await?;
    informed("a watcher that lists", &maps, watcher::Config::default().labels("value=watched")).await?;
    informed("a watcher whose list is streamed", &maps, watcher::Config::default().labels("value=watched").streaming_lists()).await?;
    informed("a watcher that lists pages", &maps, watcher::Config::default().labels("value=watched").page_size(1)).await?;
    reflected(&maps).await
}

async fn watched(maps: &Api<ConfigMap>) -> Result<()> {
    let version = maps.list(&ListParams::default()).await?.metadata.resource_version.unwrap_or_default();
    let mut events = maps.watch(&WatchParams::default().labels("value=seen"), &version).await?.boxed();
    maps.create(&PostParams::default(), &config_map("seen", "seen")).await?;
    check("watch tells what is added", matches!(soon("added", events.try_next()).await??, Some(WatchEvent::Added(_))))?;
    maps.patch("seen", &PatchParams::default(), &Patch::Merge(json!({"data": {"a": "2"}}))).await?;
    check("watch tells what changes", matches!(soon("modified", events.try_next()).await??, Some(WatchEvent::Modified(_))))?;
    maps.patch("seen", &PatchParams::default(), &Patch::Merge(json!({"metadata": {"labels": {"value": "unseen"}}}))).await?;
    check("what a selector loses is deleted for it", matches!(soon("deleted", events.try_next()).await??, Some(WatchEvent::Deleted(_))))?;
    drop(events);
    let short = WatchParams::default().timeout(1).disable_bookmarks();
    let events = soon("the end of a watch", maps.watch(&short, &version).await?.try_collect::<Vec<_>>()).await??;
    check("a watch ends in time, with what was missed", events.len() == 3)?;
    let status = refusal(maps.watch(&WatchParams::default(), "nonsense").await)?;
    check("a version that is none is refused", status.message.contains("Invalid value"))
}

async fn next<K>(events: &mut (impl Stream<Item = watcher::Result<Event<K>>> + Unpin)) -> Result<Event<K>> {
    soon("an event", events.try_next()).await??.ok_or_else(|| anyhow!("the stream ended"))
}

async fn informed(what: &str, maps: &Api<ConfigMap>, config: watcher::Config) -> Result<()> {
    for name in ["first", "second"] {
        maps.create(&PostParams::default(), &config_map(name, "watched")).await?;
    }
    let mut events = watcher(maps.clone(), config).boxed();
    let mut told = Vec::new();
    loop {
        match next(&mut events).await? {
            Event::Init => told.clear(),
            Event::InitApply(map) => told.push(map.name_any()),
            Event::InitDone => break,
            Event::Apply(_) | Event::Delete(_) => return Err(anyhow!("a change before the list was whole")),
        }
    }
    check(&format!("{what} tells what there is"), told == ["first", "second"])?;
    for name in ["first", "second"] {
        maps.delete(name, &DeleteParams::default()).await?;
    }
    let gone = [next(&mut events).await?, next(&mut events).await?];
    check(&format!("{what} tells what goes"), gone.iter().all(|event| matches!(event, Event::Delete(_))))
}

async fn reflected(maps: &Api<ConfigMap>) -> Result<()> {
    let (reader, writer) = reflector::store();
    let stream = reflector(writer, watcher(maps.clone(), watcher::Config::default())).default_backoff().applied_objects();
    let filling = tokio::spawn(stream.for_each(|_| std::future::ready(())));
    soon("the store is ready", reader.wait_until_ready()).await??;
    check("a store has what there is", reader.len() == maps.list(&ListParams::default()).await?.items.len())?;
    maps.create(&PostParams::default(), &config_map("stored", "1")).await?;
    let stored = async {
        while reader.get(&reflector::ObjectRef::new("stored").within(NAMESPACE)).is_none() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    check("a store follows", soon("the store has it", stored).await.is_ok())?;
    filling.abort();
    Ok(())
}
