//! Clients of the object stores, their settings and their credentials; all come from the environment, as every tool of
//! these stores has them.

use std::pin::Pin;
use std::sync::Arc;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::{ClientConfigKey, CredentialProvider, Error, ObjectStore, RetryConfig};

use super::patience::Patience;

/// A question for credentials, which may go to a service of this machine's provider.
pub(super) type Asked = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// The variables that a store's settings are read from.
pub(super) fn expected(scheme: &str) -> &'static str {
    match scheme {
        "s3" => "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (with AWS_REGION, or AWS_ENDPOINT for another server)",
        "gs" => "GOOGLE_SERVICE_ACCOUNT, the file of a service account's key,",
        _ => "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
    }
}

/// A client of the bucket or container of that name, and the question for its credentials if it signs its requests.
/// Nothing is asked yet.
pub(super) fn build(
    scheme: &str,
    name: &str,
    patience: &Patience,
) -> Result<(Box<dyn ObjectStore>, Option<Asked>), Error> {
    let request = format!("{} seconds", patience.request.as_secs().max(1));
    // Attempts are counted and told in `bucket.rs`, not in the client.
    let once = RetryConfig { max_retries: 0, retry_timeout: patience.request, ..RetryConfig::default() };
    match scheme {
        "s3" => {
            let builder = AmazonS3Builder::from_env()
                .with_bucket_name(name)
                .with_retry(once)
                .with_config(AmazonS3ConfigKey::Client(ClientConfigKey::Timeout), request);
            let signs = is_signed(builder.get_config_value(&AmazonS3ConfigKey::SkipSignature));
            let store = builder.build()?;
            let asked = signs.then(|| ask(store.credentials()));
            Ok((Box::new(store), asked))
        }
        "gs" => {
            let builder = GoogleCloudStorageBuilder::from_env()
                .with_bucket_name(name)
                .with_retry(once)
                .with_config(GoogleConfigKey::Client(ClientConfigKey::Timeout), request);
            let signs = is_signed(builder.get_config_value(&GoogleConfigKey::SkipSignature));
            let store = builder.build()?;
            let asked = signs.then(|| ask(store.credentials()));
            Ok((Box::new(store), asked))
        }
        _ => {
            let builder = MicrosoftAzureBuilder::from_env()
                .with_container_name(name)
                .with_retry(once)
                .with_config(AzureConfigKey::Client(ClientConfigKey::Timeout), request);
            let signs = is_signed(builder.get_config_value(&AzureConfigKey::SkipSignature));
            let store = builder.build()?;
            let asked = signs.then(|| ask(store.credentials()));
            Ok((Box::new(store), asked))
        }
    }
}

/// Whether requests are signed, by the setting that says they are not.
fn is_signed(skip_signature: Option<String>) -> bool {
    skip_signature.is_none_or(|skip| skip != "true")
}

/// Asks whoever gives a client its credentials.
fn ask<C: Send + Sync + 'static>(provider: &Arc<dyn CredentialProvider<Credential = C>>) -> Asked {
    let provider = Arc::clone(provider);
    Box::pin(async move { provider.get_credential().await.map(|_| ()) })
}
