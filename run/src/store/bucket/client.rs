//! Clients of the object stores, with settings and credentials from the usual environment variables.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::memory::InMemory;
use object_store::{ClientConfigKey, CredentialProvider, Error, ObjectStore, RetryConfig};

use crate::store::RetryPolicy;

/// A request for credentials, which may ask a service of the cloud provider.
pub(super) type PendingCredentials = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

pub(super) fn expected(scheme: &str) -> &'static str {
    match scheme {
        "s3" => "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (with AWS_REGION, or AWS_ENDPOINT for another server)",
        "gs" => "GOOGLE_SERVICE_ACCOUNT, the file of a service account's key,",
        _ => "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
    }
}

/// The environment variable that allows an endpoint without TLS, for the store at a URL.
pub(super) fn allow_http(url: &str) -> &'static str {
    match url.split_once("://") {
        Some(("s3", _)) => "AWS_ALLOW_HTTP",
        Some(("gs", _)) => "GOOGLE_ALLOW_HTTP",
        _ => "AZURE_ALLOW_HTTP",
    }
}

/// The client of a bucket or container, and the request for its credentials if it signs its requests. Makes no request.
pub(super) fn build(
    scheme: &str,
    name: &str,
    retry: &RetryPolicy,
) -> Result<(Box<dyn ObjectStore>, Option<PendingCredentials>), Error> {
    let request = format!("{} seconds", retry.request.as_secs().max(1));
    // `Bucket` repeats requests, so the client does not.
    let once = RetryConfig { max_retries: 0, retry_timeout: retry.request, ..RetryConfig::default() };
    match scheme {
        "s3" => {
            let builder = AmazonS3Builder::from_env()
                .with_bucket_name(name)
                .with_retry(once)
                .with_config(AmazonS3ConfigKey::Client(ClientConfigKey::Timeout), request);
            let skips = builder.get_config_value(&AmazonS3ConfigKey::SkipSignature);
            let store = builder.build()?;
            let asked = ask(skips, store.credentials());
            Ok((Box::new(store), asked))
        }
        "gs" => {
            let builder = GoogleCloudStorageBuilder::from_env()
                .with_bucket_name(name)
                .with_retry(once)
                .with_config(GoogleConfigKey::Client(ClientConfigKey::Timeout), request);
            let skips = builder.get_config_value(&GoogleConfigKey::SkipSignature);
            let store = builder.build()?;
            let asked = ask(skips, store.credentials());
            Ok((Box::new(store), asked))
        }
        "memory" => Ok((Box::new(in_memory(name)), None)),
        _ => {
            let builder = MicrosoftAzureBuilder::from_env()
                .with_container_name(name)
                .with_retry(once)
                .with_config(AzureConfigKey::Client(ClientConfigKey::Timeout), request);
            let skips = builder.get_config_value(&AzureConfigKey::SkipSignature);
            let store = builder.build()?;
            let asked = ask(skips, store.credentials());
            Ok((Box::new(store), asked))
        }
    }
}

/// A bucket of this process, for tests: it is gone when the process ends, and no text names it
/// ([`crate::store::Location`] reads other schemes only).
fn in_memory(name: &str) -> Arc<InMemory> {
    static BUCKETS: Mutex<BTreeMap<String, Arc<InMemory>>> = Mutex::new(BTreeMap::new());
    let mut buckets = BUCKETS.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(buckets.entry(name.to_owned()).or_default())
}

/// Requests credentials from a client's provider, if the client signs its requests.
fn ask<C: Send + Sync + 'static>(
    skips_signature: Option<String>,
    provider: &Arc<dyn CredentialProvider<Credential = C>>,
) -> Option<PendingCredentials> {
    if skips_signature.is_some_and(|skips| skips == "true") {
        return None;
    }
    let provider = Arc::clone(provider);
    Some(Box::pin(async move { provider.get_credential().await.map(|_| ()) }))
}
