//! Calls on objects: how they are made, changed, listed, refused, and found by discovery.
use crate::{NAMESPACE, check, config_map, refusal};
use anyhow::Result;
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, ServiceAccount};
use kube::api::{Api, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams, Preconditions, ResourceExt};
use kube::discovery::{Discovery, verbs};
use kube::{Client, Config};
use serde_json::json;

pub async fn run(client: &Client) -> Result<()> {
    let maps = Api::namespaced(client.clone(), NAMESPACE);
    written(&maps).await?;
    patched(&maps).await?;
    applied(&maps).await?;
    listed(&maps).await?;
    deleted(&maps).await?;
    refused(client).await?;
    leased(client).await?;
    discovered(client).await
}

async fn written(maps: &Api<ConfigMap>) -> Result<()> {
    let made = maps.create(&PostParams::default(), &config_map("one", "1")).await?;
    check("create", made.uid().is_some())?;
    check("an object that is not there is none", maps.get_opt("none").await?.is_none())?;
    let again = refusal(maps.create(&PostParams::default(), &config_map("one", "1")).await)?;
    check("a second create is refused", again.code == 409 && again.is_already_exists())?;
    let mut newer = made.clone();
    newer.data.get_or_insert_default().insert("b".into(), "2".into());
    let newer = maps.replace("one", &PostParams::default(), &newer).await?;
    check("replace", newer.resource_version() != made.resource_version() && newer.data.is_some_and(|data| data["b"] == "2"))?;
    let stale = refusal(maps.replace("one", &PostParams::default(), &made).await)?;
    check("a stale replace conflicts", stale.code == 409 && stale.is_conflict())?;
    let dry = PostParams { dry_run: true, ..Default::default() };
    maps.create(&dry, &config_map("dry", "1")).await?;
    check("a dry run keeps nothing", maps.get_opt("dry").await?.is_none())
}

async fn patched(maps: &Api<ConfigMap>) -> Result<()> {
    let plain = PatchParams::default();
    let merged = maps.patch("one", &plain, &Patch::Merge(json!({"data": {"b": null, "c": "3"}}))).await?;
    check("merge patch", merged.data.is_some_and(|data| !data.contains_key("b") && data["c"] == "3"))?;
    let strategic = json!({"metadata": {"finalizers": ["rust.example.com/one"]}});
    check("strategic merge patch", maps.patch("one", &plain, &Patch::Strategic(strategic)).await?.finalizers().len() == 1)?;
    let operations = serde_json::from_value(json!([{"op": "test", "path": "/data/c", "value": "3"}, {"op": "remove", "path": "/metadata/finalizers"}]))?;
    check("JSON patch", maps.patch("one", &plain, &Patch::Json::<()>(operations)).await?.finalizers().is_empty())?;
    let untrue = serde_json::from_value(json!([{"op": "test", "path": "/data/c", "value": "4"}]))?;
    let status = refusal(maps.patch("one", &plain, &Patch::Json::<()>(untrue)).await)?;
    check("a JSON patch whose test does not hold is refused", status.code == 422 && status.is_invalid())?;
    let odd = Patch::Merge(json!({"datum": {}}));
    let status = refusal(maps.patch("one", &PatchParams::default().validation_strict(), &odd).await)?;
    check("strict validation refuses unknown fields", status.code == 422 && status.message.contains("unknown field \"datum\""))
}

async fn applied(maps: &Api<ConfigMap>) -> Result<()> {
    let of = |value: &str| Patch::Apply(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"a": value}}));
    let first = maps.patch("applied", &PatchParams::apply("one"), &of("1")).await?;
    let kept = first.managed_fields().iter().any(|entry| entry.manager.as_deref() == Some("one") && entry.operation.as_deref() == Some("Apply"));
    check("apply creates, and keeps whose the fields are", kept)?;
    let status = refusal(maps.patch("applied", &PatchParams::apply("two"), &of("2")).await)?;
    let causes = status.details.map(|details| details.causes).unwrap_or_default();
    let named = causes.iter().any(|cause| cause.reason == "FieldManagerConflict" && cause.field == ".data.a");
    check("apply of another's field conflicts and names it", status.code == 409 && named)?;
    let forced = maps.patch("applied", &PatchParams::apply("two").force(), &of("2")).await?;
    check("forced apply takes it", forced.data.is_some_and(|data| data["a"] == "2"))
}

async fn listed(maps: &Api<ConfigMap>) -> Result<()> {
    for at in 0..7 {
        maps.create(&PostParams::default(), &config_map(&format!("page-{at}"), "page")).await?;
    }
    let labelled = ListParams::default().labels("value=page");
    let mut names = Vec::new();
    let mut next = labelled.clone().limit(3);
    loop {
        let page = maps.list(&next).await?;
        check("a page is no longer than asked for", page.items.len() <= 3)?;
        names.extend(page.items.iter().map(ResourceExt::name_any));
        match page.metadata.continue_ {
            Some(token) if !token.is_empty() => next = next.continue_token(&token),
            _ => break,
        }
    }
    check("pages have all, once and in order", names == (0..7).map(|at| format!("page-{at}")).collect::<Vec<_>>())?;
    let one = maps.list(&ListParams::default().fields("metadata.name=page-3")).await?;
    check("field selector", one.items.len() == 1)?;
    let metadata = maps.list_metadata(&labelled).await?;
    let partial = metadata.items.iter().all(|item| item.types.as_ref().is_some_and(|types| types.kind == "PartialObjectMetadata"));
    check("metadata only", metadata.items.len() == 7 && partial)
}

async fn deleted(maps: &Api<ConfigMap>) -> Result<()> {
    let other = Preconditions { uid: Some("of another".into()), resource_version: None };
    let status = refusal(maps.delete("page-0", &DeleteParams::default().preconditions(other)).await)?;
    check("a precondition that does not hold conflicts", status.code == 409)?;
    check("delete", maps.delete("page-0", &DeleteParams::default()).await?.right().is_some_and(|status| status.is_success()))?;
    let labelled = ListParams::default().labels("value=page");
    maps.delete_collection(&DeleteParams::default(), &labelled).await?;
    check("delete of a collection", maps.list(&labelled).await?.items.is_empty())?;
    check("what is gone is not found", refusal(maps.get("page-0").await)?.is_not_found())
}

async fn refused(client: &Client) -> Result<()> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), NAMESPACE);
    let wrong: Pod = serde_json::from_value(json!({"metadata": {"name": "Wrong"}, "spec": {"containers": []}}))?;
    let status = refusal(pods.create(&PostParams::default(), &wrong).await)?;
    let causes = status.details.as_ref().map(|details| details.causes.iter().map(|cause| cause.field.as_str()).collect::<Vec<_>>());
    check("invalid fields are named", status.is_invalid() && causes == Some(vec!["metadata.name", "spec.containers"]))?;
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), NAMESPACE);
    let account: ServiceAccount = serde_json::from_value(json!({"metadata": {"name": "nobody"}}))?;
    accounts.create(&PostParams::default(), &account).await?;
    let request = TokenRequest { spec: Some(TokenRequestSpec { expiration_seconds: Some(600), ..Default::default() }), ..Default::default() };
    let token = accounts.create_token_request("nobody", &PostParams::default(), &request).await?.status.map(|status| status.token);
    let mut config = Config::infer().await?;
    config.auth_info = serde_json::from_value(json!({"token": token}))?;
    let theirs: Api<ConfigMap> = Api::namespaced(Client::try_from(config.clone())?, NAMESPACE);
    let status = refusal(theirs.list(&ListParams::default()).await)?;
    check("an account without rights is forbidden", status.is_forbidden() && status.message.contains("system:serviceaccount:rust:nobody"))?;
    config.auth_info = serde_json::from_value(json!({"token": "none"}))?;
    let theirs: Api<ConfigMap> = Api::namespaced(Client::try_from(config)?, NAMESPACE);
    check("an unknown token is unauthorized", refusal(theirs.list(&ListParams::default()).await)?.code == 401)
}

async fn leased(client: &Client) -> Result<()> {
    let leases: Api<Lease> = Api::namespaced(client.clone(), NAMESPACE);
    let of = |holder: &str| serde_json::from_value::<Lease>(json!({"metadata": {"name": "one"}, "spec": {"holderIdentity": holder, "leaseDurationSeconds": 15}}));
    let held = leases.create(&PostParams::default(), &of("a")?).await?;
    let mut taken = of("b")?;
    taken.metadata.resource_version = held.resource_version();
    let replaced = leases.replace("one", &PostParams::default(), &taken).await?;
    check("a lease is taken over", replaced.spec.and_then(|spec| spec.holder_identity).as_deref() == Some("b"))?;
    let late = refusal(leases.replace("one", &PostParams::default(), &taken).await)?;
    check("who comes late does not get it", late.is_conflict())
}

async fn discovered(client: &Client) -> Result<()> {
    let version = client.apiserver_version().await?;
    check("version", version.major == "1" && version.git_version.starts_with("v1.36"))?;
    let plain = Discovery::new(client.clone()).run().await?;
    let aggregated = Discovery::new(client.clone()).run_aggregated().await?;
    let groups = |discovery: &Discovery| discovery.groups_alphabetical().iter().map(|group| group.name().to_owned()).collect::<Vec<_>>();
    check("both discoveries tell the same groups", groups(&plain) == groups(&aggregated) && plain.has_group("apps"))?;
    let kind = GroupVersionKind::gvk("apps", "v1", "Deployment");
    let same = plain.resolve_gvk(&kind).map(|(resource, _)| resource) == aggregated.resolve_gvk(&kind).map(|(resource, _)| resource);
    check("both resolve a kind to the same resource", same)?;
    let pinned = kube::discovery::pinned_kind(client, &GroupVersionKind::gvk("", "v1", "ConfigMap")).await?;
    check("what a resource is able to", pinned.1.supports_operation(verbs::WATCH))?;
    let dynamic: Api<DynamicObject> = Api::namespaced_with(client.clone(), NAMESPACE, &pinned.0);
    check("dynamic objects", dynamic.get("one").await?.data["data"]["c"] == "3")
}
