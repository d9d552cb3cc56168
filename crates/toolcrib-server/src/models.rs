//! The models that can be asked: those of configured and found providers, and the demo model.
//!
//! A prompt goes to the provider that was named, or to the first one; never to another because that one failed.

use std::sync::Arc;

use futures_util::future::join_all;
use toolcrib_providers::client::{Provider, ProviderSettings, ProviderSetupError};
use toolcrib_providers::demo::DemoModel;
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::model::Model;

use crate::config::Config;
use crate::environment::Environment;
use crate::error::{ApiError, MODEL_NOT_FOUND};
use crate::ids::random_seed;
use listing::{FAILURE_AGE, FIRST_WAIT, Listing, Names};
use toolcrib_runtime::nearest::nearest_by;

mod found;
mod listing;

/// Models that an error shows.
const SHOWN: usize = 10;

/// The models of this installation.
pub(crate) struct Models {
    instances: Vec<Arc<Instance>>,
    demo: Arc<dyn Model>,
    default: Option<String>,
}

/// A provider and what is known of its models.
struct Instance {
    provider: Arc<Provider>,
    /// Where it was found: configuration, a variable, a port.
    origin: String,
    listing: Arc<Listing>,
}

/// A model as lists show it.
pub(crate) struct ModelEntry {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) default: bool,
}

/// What is known of a provider.
pub(crate) struct ProviderStatus {
    pub(crate) id: String,
    pub(crate) origin: String,
    pub(crate) base_url: String,
    pub(crate) confidence: String,
    /// How many models it lists, or why it does not.
    pub(crate) models: Result<usize, String>,
}

impl Models {
    /// Takes the configured providers and those that the environment names; without any, looks at the usual
    /// loopback ports.
    pub(crate) async fn find(config: &Config, environment: &Environment) -> Result<Self, ProviderSetupError> {
        let instances = found::providers(config, environment).await?;
        let default = environment.get("TOOLCRIB_MODEL").map(str::trim).filter(|name| *name != "default");
        Ok(Self { instances, demo: Arc::new(DemoModel::new()), default: default.map(str::to_owned) })
    }

    /// True when there is nothing but the demo model.
    pub(crate) fn only_demo(&self) -> bool {
        self.instances.is_empty()
    }

    /// The providers that were found: id and where. Nobody is asked.
    pub(crate) fn origins(&self) -> Vec<(String, String)> {
        self.instances.iter().map(|it| (it.id().to_owned(), it.origin.clone())).collect()
    }

    /// The providers that may see content of this confidence, by id.
    pub(crate) fn satisfying(&self, needs: Confidence) -> Vec<String> {
        let may = self.instances.iter().filter(|instance| {
            let settings = instance.provider.settings();
            settings.trusted || settings.confidence >= needs
        });
        may.map(|instance| instance.id().to_owned()).collect()
    }

    /// The model that a request names: `provider/model`, a name that one provider has, or nothing for the default.
    pub(crate) async fn resolve(&self, requested: &str) -> Result<Arc<dyn Model>, ApiError> {
        match requested {
            "" | "default" => match &self.default {
                Some(name) => self.named(name).await,
                None => self.default_model().await,
            },
            name => self.named(name).await,
        }
    }

    async fn named(&self, requested: &str) -> Result<Arc<dyn Model>, ApiError> {
        if requested == self.demo.identity().full_name() {
            return Ok(Arc::clone(&self.demo));
        }
        if let Some((provider, name)) = requested.split_once('/')
            && let Some(instance) = self.instances.iter().find(|instance| instance.id() == provider)
        {
            return instance.named(name);
        }
        // A list that is not known yet is waited for: an earlier provider goes before a later one from the first
        // request on.
        join_all(
            self.instances.iter().filter(|it| it.listing.known().is_none()).map(|it| it.listing.names()),
        )
        .await;
        if let Some(model) = self.listed(requested) {
            return Ok(model);
        }
        // It may be new.
        let asked =
            join_all(self.instances.iter().map(|it| it.listing.younger_than(FAILURE_AGE, FIRST_WAIT)));
        let lists = asked.await;
        if let Some(model) = self.listed(requested) {
            return Ok(model);
        }
        match (&self.instances[..], &lists[..]) {
            // There is no other whose prompt this could be.
            ([only], [Err(_)]) => Ok(only.provider.model(requested)),
            _ => Err(self.unknown(requested)),
        }
    }

    /// The first provider's model of this name.
    fn listed(&self, name: &str) -> Option<Arc<dyn Model>> {
        self.instances.iter().find_map(|instance| {
            let known = instance.listing.known()?;
            Some(instance.provider.model(in_list(&known, name)?))
        })
    }

    async fn default_model(&self) -> Result<Arc<dyn Model>, ApiError> {
        let Some(first) = self.instances.first() else { return Ok(Arc::clone(&self.demo)) };
        let advice = "name a model as `provider/model`, or a default one in the variable TOOLCRIB_MODEL";
        let names = first.listing.names().await.map_err(|error| {
            let error = ApiError::from(error);
            let message = format!(
                "{}; the default model is one of {}, and no other provider is asked in its place: {advice}",
                error.message,
                first.id()
            );
            ApiError { message, ..error }
        })?;
        let profile = &first.provider.settings().profile;
        let name = profile.default_model(&names).ok_or_else(|| {
            let message = format!("the provider {} lists no models: {advice}", first.id());
            ApiError::new(MODEL_NOT_FOUND, message).with_param("model")
        })?;
        Ok(first.provider.model(name))
    }

    fn unknown(&self, requested: &str) -> ApiError {
        let known = self.instances.iter().flat_map(|instance| {
            let names = instance.listing.known().unwrap_or_default();
            names.iter().map(|name| format!("{}/{name}", instance.id())).collect::<Vec<_>>()
        });
        let names: Vec<String> = known.chain([self.demo.identity().full_name()]).collect();
        let short = |name: &str| name.split_once('/').map_or(name, |(_, model)| model).to_owned();
        let whole = nearest_by(requested, names.iter().map(|name| (name.clone(), name.as_str())));
        let nearest =
            whole.or_else(|| nearest_by(requested, names.iter().map(|name| (short(name), name.as_str()))));
        let hint = nearest.map(|name| format!("; did you mean {name:?}?")).unwrap_or_default();
        let shown = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
        let message = format!(
            "no provider lists the model {requested:?}; there are {shown}{hint} \
             (what a provider has but does not list is named as `provider/model`)"
        );
        ApiError::new(MODEL_NOT_FOUND, message).with_param("model")
    }

    /// Every model that is known, the demo model last.
    pub(crate) async fn list(&self) -> Vec<ModelEntry> {
        let lists = join_all(self.instances.iter().map(|instance| instance.listing.names())).await;
        let default = self.resolve("").await.ok().map(|model| model.identity().full_name());
        let mut models = Vec::new();
        for (instance, names) in self.instances.iter().zip(lists) {
            models.extend(
                names.iter().flat_map(|names| names.iter()).map(|name| instance.provider.model(name)),
            );
        }
        models.push(Arc::clone(&self.demo));
        let entries = models.into_iter().map(|model| ModelEntry {
            default: default.as_deref() == Some(model.identity().full_name().as_str()),
            model,
        });
        entries.collect()
    }

    /// Asks every provider how it is, and waits as long as a listing may take.
    pub(crate) async fn status(&self) -> Vec<ProviderStatus> {
        join_all(self.instances.iter().map(|instance| instance.status())).await
    }
}

impl Instance {
    fn new(settings: ProviderSettings, origin: &str) -> Result<Arc<Self>, ProviderSetupError> {
        let provider = Provider::new(settings, random_seed().unwrap_or_default())?;
        let listing = Arc::new(Listing::new(Arc::clone(&provider)));
        Ok(Arc::new(Self { provider, origin: origin.to_owned(), listing }))
    }

    fn id(&self) -> &str {
        &self.provider.settings().id
    }

    /// A model that was named with its provider. Only configured models are all there are: a list that the provider
    /// gives leaves out aliases and what is new, so that the provider itself has the last word.
    fn named(&self, name: &str) -> Result<Arc<dyn Model>, ApiError> {
        let configured: Option<Names> = self.provider.settings().models.clone().map(Names::from);
        let unknown = |message: String| ApiError::new(MODEL_NOT_FOUND, message).with_param("model");
        if name.is_empty() {
            return Err(unknown(format!("a model of {} has to be named after the slash", self.id())));
        }
        let listed = configured.clone().or_else(|| self.listing.known()).unwrap_or_default();
        match (in_list(&listed, name), configured) {
            (Some(listed), _) => Ok(self.provider.model(listed)),
            (None, None) => Ok(self.provider.model(name)),
            (None, Some(configured)) => {
                let shown = configured.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
                let id = self.id();
                Err(unknown(format!(
                    "the provider {id} has no model {name:?}; it is configured with {shown}"
                )))
            }
        }
    }

    async fn status(&self) -> ProviderStatus {
        let settings = self.provider.settings();
        let base_url = settings.base_url.clone().or(settings.profile.base_url.map(str::to_owned));
        let models = self.listing.younger_than(FAILURE_AGE, settings.timeouts.listing).await;
        ProviderStatus {
            id: settings.id.clone(),
            origin: self.origin.clone(),
            base_url: base_url.unwrap_or_default(),
            confidence: settings.confidence.to_string(),
            models: models.map(|names| names.len()).map_err(|error| error.message),
        }
    }
}

/// The name as it is listed: `llama3.2` is `llama3.2:latest` where that is listed, as at Ollama.
fn in_list<'l>(list: &'l [String], name: &str) -> Option<&'l str> {
    let tagged = format!("{name}:latest");
    let exact = list.iter().find(|listed| *listed == name);
    exact.or_else(|| list.iter().find(|listed| **listed == tagged)).map(String::as_str)
}
