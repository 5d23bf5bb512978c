"""Keys and tokens that their form gives away: what each provider's begin with and how they go on.

Formats are those that providers document or that their clients check. Open lengths are taken shorter than
today's keys, because providers lengthen them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

Guard = Literal["", "random"]


@dataclass(frozen=True, slots=True)
class Provider:
    """`mark` is a literal in every such key, `before` how many characters of the key stand before it.

    `pattern` describes the whole key. A `loose` key may follow a letter or digit directly: nothing else
    looks like it. `guard` asks for what follows the mark to look random, where words can take this form.
    """

    kind: str
    label: str
    mark: str
    pattern: str
    before: int = 0
    loose: bool = False
    guard: Guard = ""
    regex: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "regex", _compiled(self.pattern))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


MODELS = (
    Provider(
        "openai_key", "an OpenAI API key", "sk-proj-", r"sk-proj-[\w-]{20,400}", loose=True, guard="random"
    ),
    Provider("openai_key", "an OpenAI API key", "sk-svcacct-", r"sk-svcacct-[\w-]{20,400}", loose=True),
    Provider("openai_key", "an OpenAI API key", "sk-admin-", r"sk-admin-[\w-]{20,400}", guard="random"),
    Provider("openai_key", "an OpenAI API key", "sk-None-", r"sk-None-[\w-]{20,400}", loose=True),
    Provider("openai_key", "an OpenAI API key", "T3BlbkFJ", r"[\w-]{0,200}T3BlbkFJ[\w-]{10,200}", loose=True),
    Provider("openai_key", "an OpenAI session key", "sess-", r"sess-[A-Za-z0-9]{40}"),
    Provider(
        "anthropic_key",
        "an Anthropic API key",
        "sk-ant-",
        r"sk-ant-[\w-]{16,300}",
        loose=True,
        guard="random",
    ),
    Provider(
        "openrouter_key", "an OpenRouter API key", "sk-or-", r"sk-or-(?:v\d-)?[\w-]{24,200}", guard="random"
    ),
    Provider("langfuse_key", "a Langfuse secret key", "sk-lf-", r"sk-lf-[\w-]{24,80}", loose=True),
    Provider(
        "sk_key",
        "a secret key of the form sk-… (OpenAI, DeepSeek, LiteLLM and others)",
        "sk-",
        r"sk-[A-Za-z0-9_-]{16,300}",
        guard="random",
    ),
    Provider("google_key", "a Google or Gemini API key", "AIza", r"AIza[\w-]{35}", loose=True),
    Provider("google_key", "a Gemini API key", "AQ.A", r"AQ\.A[\w-]{40,120}"),
    Provider("huggingface_token", "a Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{30,60}"),
    Provider("huggingface_token", "a Hugging Face token", "api_org_", r"api_org_[A-Za-z0-9]{30,60}"),
    Provider("groq_key", "a Groq API key", "gsk_", r"gsk_[A-Za-z0-9]{20,120}", guard="random"),
    Provider("xai_key", "an xAI API key", "xai-", r"xai-[A-Za-z0-9_-]{40,120}", guard="random"),
    Provider("replicate_token", "a Replicate token", "r8_", r"r8_[A-Za-z0-9]{36,40}"),
    Provider("together_key", "a Together API key", "tgp_v1_", r"tgp_v1_[\w-]{30,80}", loose=True),
    Provider("perplexity_key", "a Perplexity API key", "pplx-", r"pplx-[A-Za-z0-9]{32,80}"),
    Provider("fireworks_key", "a Fireworks API key", "fw_", r"fw_[A-Za-z0-9]{22,48}", guard="random"),
    Provider("cerebras_key", "a Cerebras API key", "csk-", r"csk-[a-z0-9]{40,64}"),
    Provider("nvidia_key", "an NVIDIA API key", "nvapi-", r"nvapi-[\w-]{50,100}", loose=True),
    Provider("jina_key", "a Jina API key", "jina_", r"jina_[A-Za-z0-9_-]{50,80}"),
    Provider("voyage_key", "a Voyage API key", "pa-", r"pa-[\w-]{40,48}(?![\w-])", guard="random"),
    Provider("elevenlabs_key", "an ElevenLabs API key", "sk_", r"sk_[0-9a-f]{48}(?![0-9a-f])"),
    Provider("pinecone_key", "a Pinecone API key", "pcsk_", r"pcsk_[\w]{40,120}", loose=True),
    Provider(
        "tavily_key", "a Tavily API key", "tvly-", r"tvly-(?:dev-|prod-)?[A-Za-z0-9_-]{24,80}", guard="random"
    ),
    Provider("firecrawl_key", "a Firecrawl API key", "fc-", r"fc-[0-9a-f]{32}(?![0-9a-f])"),
    Provider(
        "langsmith_key",
        "a LangSmith API key",
        "lsv2_",
        r"lsv2_(?:pt|sk)_[0-9a-fA-F]{32}_[0-9a-fA-F]{10}",
        loose=True,
    ),
    Provider("e2b_key", "an E2B API key", "e2b_", r"e2b_[0-9a-f]{40}"),
    Provider("daytona_key", "a Daytona API key", "dtn_", r"dtn_[0-9a-f]{64}"),
    Provider(
        "modal_token", "a Modal token secret", "as-", r"as-[A-Za-z0-9]{22}(?![A-Za-z0-9-])", guard="random"
    ),
    Provider("anyscale_key", "an Anyscale API key", "esecret_", r"esecret_[a-z0-9]{24,40}"),
    Provider(
        "plural_key", "an API key of this site", "plural_", r"plural_[\w-]{43}(?![\w-])", guard="random"
    ),
)

CLOUDS = (
    Provider("aws_key_id", "an AWS access key ID", "AKIA", r"AKIA[A-Z0-9]{16}(?![A-Z0-9])", loose=True),
    Provider("aws_key_id", "an AWS access key ID", "ASIA", r"ASIA[A-Z0-9]{16}(?![A-Z0-9])"),
    Provider("aws_key_id", "an AWS access key ID", "ABIA", r"ABIA[A-Z0-9]{16}(?![A-Z0-9])"),
    Provider("aws_key_id", "an AWS access key ID", "ACCA", r"ACCA[A-Z0-9]{16}(?![A-Z0-9])"),
    Provider("aws_bedrock_key", "an Amazon Bedrock API key", "ABSK", r"ABSK[A-Za-z0-9+/]{80,300}={0,2}"),
    Provider(
        "aws_session_token",
        "an AWS session token",
        "IQoJb3JpZ2lu",
        r"IQoJb3JpZ2lu[A-Za-z0-9+/]{80,2000}={0,2}",
    ),
    Provider(
        "aws_session_token",
        "an AWS session token",
        "FwoGZXIvYXdz",
        r"FwoGZXIvYXdz[A-Za-z0-9+/]{80,2000}={0,2}",
    ),
    Provider(
        "azure_storage_key", "an Azure storage key", "AccountKey=", r"AccountKey=[A-Za-z0-9+/]{40,100}={0,2}"
    ),
    Provider(
        "azure_access_key",
        "an Azure shared access key",
        "SharedAccessKey=",
        r"SharedAccessKey=[A-Za-z0-9+/]{40,100}={0,2}",
    ),
    Provider("azure_sas", "an Azure shared access signature", "sig=", r"sig=[A-Za-z0-9%+/_-]{40,100}={0,2}"),
    Provider(
        "azure_client_secret",
        "a Microsoft Entra client secret",
        "Q~",
        r"[\w.~-]{3}\dQ~[\w.~-]{31,34}",
        before=4,
    ),
    Provider(
        "azure_api_key", "an Azure AI API key", "JQQJ99", r"[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}", before=52
    ),
    Provider(
        "azure_devops_token", "an Azure DevOps token", "AZDO", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", before=76
    ),
    Provider(
        "google_oauth_secret", "a Google OAuth client secret", "GOCSPX-", r"GOCSPX-[\w-]{24,40}", loose=True
    ),
    Provider("google_access_token", "a Google access token", "ya29.", r"ya29\.[\w-]{20,400}"),
    Provider("google_refresh_token", "a Google refresh token", "1//0", r"1//0[\w-]{40,120}"),
    Provider("digitalocean_token", "a DigitalOcean token", "_v1_", r"do[opr]_v1_[0-9a-f]{64}", before=3),
    Provider("databricks_token", "a Databricks token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?(?![0-9a-f])"),
    Provider(
        "alibaba_key_id", "an Alibaba Cloud access key ID", "LTAI", r"LTAI[A-Za-z0-9]{16,20}(?![A-Za-z0-9])"
    ),
    Provider("cloudflare_key", "a Cloudflare origin CA key", "v1.0-", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    Provider("fly_token", "a Fly.io token", "fm2_", r"fm2_[A-Za-z0-9+/]{60,1000}={0,3}"),
    Provider("heroku_key", "a Heroku API key", "HRKU-", r"HRKU-[\w-]{30,80}"),
    Provider("netlify_token", "a Netlify token", "nfp_", r"nfp_[A-Za-z0-9]{36}"),
    Provider("render_key", "a Render API key", "rnd_", r"rnd_[A-Za-z0-9]{28,40}", guard="random"),
    Provider("supabase_key", "a Supabase key", "sbp_", r"sbp_[\w-]{40}"),
    Provider("supabase_key", "a Supabase secret key", "sb_secret_", r"sb_secret_[\w-]{24,60}"),
    Provider(
        "planetscale_token", "a PlanetScale token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w.=-]{32,64}"
    ),
    Provider("vault_token", "a HashiCorp Vault token", "hvs.", r"hvs\.[\w-]{24,300}"),
    Provider("vault_token", "a HashiCorp Vault token", "hvb.", r"hvb\.[\w-]{24,300}"),
    Provider(
        "terraform_token",
        "a Terraform Cloud token",
        ".atlasv1.",
        r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,80}",
        before=14,
    ),
    Provider(
        "doppler_token",
        "a Doppler token",
        "dp.",
        r"dp\.(?:pt|ct|st|sa|scim|audit)\.(?:[\w-]{1,40}\.)?[A-Za-z0-9]{40,44}",
    ),
    Provider("pulumi_token", "a Pulumi token", "pul-", r"pul-[0-9a-f]{40}"),
    Provider(
        "onepassword_token", "a 1Password service token", "ops_eyJ", r"ops_eyJ[A-Za-z0-9+/=_-]{100,2000}"
    ),
    Provider("tailscale_key", "a Tailscale key", "tskey-", r"tskey-[a-z]{3,12}-[A-Za-z0-9-]{16,80}"),
)

CODE = (
    Provider("github_token", "a GitHub token", "ghp_", r"ghp_[A-Za-z0-9]{36,251}", loose=True),
    Provider("github_token", "a GitHub token", "gho_", r"gho_[A-Za-z0-9]{36,251}", loose=True),
    Provider("github_token", "a GitHub token", "ghu_", r"ghu_[A-Za-z0-9]{36,251}", loose=True),
    Provider("github_token", "a GitHub token", "ghs_", r"ghs_[A-Za-z0-9]{36,251}", loose=True),
    Provider("github_token", "a GitHub token", "ghr_", r"ghr_[A-Za-z0-9]{36,251}", loose=True),
    Provider("github_token", "a GitHub token", "github_pat_", r"github_pat_\w{50,244}", loose=True),
    *(
        Provider("gitlab_token", "a GitLab token", mark, mark + r"[\w.-]{20,300}")
        for mark in (
            "glpat-",
            "gldt-",
            "glrt-",
            "glcbt-",
            "glptt-",
            "glft-",
            "glsoat-",
            "glimt-",
            "glagent-",
            "gloas-",
            "glffct-",
        )
    ),
    Provider("npm_token", "an npm token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    Provider("pypi_token", "a PyPI token", "pypi-", r"pypi-AgE[\w-]{50,1000}"),
    Provider("rubygems_key", "a RubyGems API key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    Provider("nuget_key", "a NuGet API key", "oy2", r"oy2[a-z0-9]{43}(?![a-z0-9])"),
    Provider("docker_token", "a Docker Hub token", "dckr_", r"dckr_[a-z]{2,4}_[\w-]{27,60}"),
    Provider("postman_key", "a Postman API key", "PMA", r"PMA[KT]-[0-9a-zA-Z]{24}(?:-[0-9a-fA-F]{34})?"),
    Provider("sonar_token", "a SonarQube token", "sq", r"sq[pua]_[0-9a-f]{40}(?![0-9a-f])"),
    Provider("atlassian_token", "an Atlassian API token", "ATATT3", r"ATATT3[\w=-]{100,300}"),
    Provider("linear_key", "a Linear API key", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{40,64}"),
    Provider("notion_token", "a Notion token", "ntn_", r"ntn_[A-Za-z0-9]{40,60}"),
    Provider("figma_token", "a Figma token", "figd_", r"figd_[\w-]{38,60}"),
    Provider("airtable_token", "an Airtable token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    Provider("grafana_token", "a Grafana token", "glsa_", r"glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    Provider("grafana_token", "a Grafana Cloud token", "glc_", r"glc_[A-Za-z0-9+/]{32,600}={0,3}"),
    Provider("sentry_token", "a Sentry token", "sntrys_", r"sntrys_eyJ[A-Za-z0-9+/=_-]{60,600}"),
    Provider("sentry_token", "a Sentry token", "sntryu_", r"sntryu_[0-9a-f]{64}"),
    Provider("newrelic_key", "a New Relic key", "NRAK-", r"NRAK-[A-Z0-9]{27}"),
    Provider("prefect_key", "a Prefect API key", "pnu_", r"pnu_[A-Za-z0-9]{36}"),
)

MESSAGES_AND_MONEY = (
    Provider(
        "slack_token",
        "a Slack token",
        "xox",
        r"xox[a-z](?:\.xox[a-z])?-(?=[A-Za-z0-9-]{0,40}\d{4})[A-Za-z0-9-]{16,300}",
        loose=True,
    ),
    Provider("slack_token", "a Slack session cookie", "xoxd-", r"xoxd-[\w%/+.=-]{40,400}", guard="random"),
    Provider(
        "slack_token", "a Slack token", "xox", r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{16,300}", guard="random"
    ),
    Provider("slack_token", "a Slack app token", "xapp-", r"xapp-\d-[A-Za-z0-9-]{20,200}"),
    Provider(
        "webhook",
        "a Slack webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/+-]{20,120}",
    ),
    Provider(
        "webhook", "a Discord webhook", "/api/webhooks/", r"/api/webhooks/\d{15,20}/[\w-]{50,80}", loose=True
    ),
    Provider(
        "webhook",
        "a Microsoft Teams webhook",
        ".webhook.office.com/",
        r"\.webhook\.office\.com/webhookb2/[\w@/-]{60,300}",
        loose=True,
    ),
    Provider(
        "webhook",
        "a Zapier webhook",
        "hooks.zapier.com/",
        r"hooks\.zapier\.com/hooks/catch/\d{4,12}/[A-Za-z0-9]{5,12}",
    ),
    Provider("telegram_token", "a Telegram bot token", ":AA", r"\d{8,10}:AA[\w-]{33}(?![\w-])", before=10),
    Provider("telegram_token", "a Telegram bot token", ":AA", r"\d{8,9}:AA[\w-]{33}(?![\w-])", before=9),
    Provider("telegram_token", "a Telegram bot token", ":AA", r"\d{8}:AA[\w-]{33}(?![\w-])", before=8),
    Provider("stripe_key", "a Stripe key", "_live_", r"[sr]k_live_[A-Za-z0-9]{16,250}", before=2),
    Provider(
        "stripe_key",
        "a Stripe test key",
        "_test_",
        r"[sr]k_test_[A-Za-z0-9]{16,250}",
        before=2,
        guard="random",
    ),
    Provider("stripe_key", "a Stripe webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/]{28,80}={0,2}"),
    Provider("twilio_key", "a Twilio API key", "SK", r"SK[0-9a-f]{32}(?![0-9a-f])"),
    Provider("sendgrid_key", "a SendGrid API key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{32,64}"),
    Provider("mailgun_key", "a Mailgun API key", "key-", r"key-[0-9a-f]{32}(?![0-9a-f])"),
    Provider("mailchimp_key", "a Mailchimp API key", "-us", r"[0-9a-f]{32}-us\d{1,2}(?!\d)", before=32),
    Provider("brevo_key", "a Brevo API key", "xkeysib-", r"xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    Provider(
        "resend_key", "a Resend API key", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,28}", guard="random"
    ),
    Provider("square_token", "a Square token", "sq0", r"sq0[a-z]{3}-[\w-]{22,43}"),
    Provider("shopify_token", "a Shopify token", "shp", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    Provider("age_key", "an age secret key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
)

OTHERS = (
    Provider(
        "provider_key",
        "a 1Password secret key",
        "A3-",
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{6}-[A-Z0-9]{5}|[A-Z0-9]{11})(?:-[A-Z0-9]{5}){3}",
    ),
    Provider(
        "provider_key",
        "an Amazon Bedrock API key",
        "bedrock-api-key-",
        r"bedrock-api-key-[A-Za-z0-9+/]{30,4000}={0,2}",
    ),
    Provider("provider_key", "an Astra DB token", "AstraCS:", r"AstraCS:[A-Za-z0-9]{20,}(?::[0-9a-f]{30,})?"),
    Provider("provider_key", "a Buildkite token", "bk", r"bk(?:ua|ct)_[\w-]{40,80}"),
    Provider("provider_key", "a CircleCI token", "CCIP", r"CCIP(?:AT|RJ)_[A-Za-z0-9]{20,24}_[0-9a-f]{40}"),
    Provider("provider_key", "a Clojars token", "CLOJARS_", r"CLOJARS_[a-z0-9]{60}"),
    Provider("provider_key", "a Cloudflare token", "cf", r"cf[a-z]{2}_[A-Za-z0-9]{40}[0-9a-f]{8}"),
    Provider("provider_key", "a Deno token", "dd", r"dd[po]_[A-Za-z0-9]{36}"),
    Provider("provider_key", "a Docker Swarm secret", "SWM", r"SWM(?:TKN|KEY)-1-[A-Za-z0-9+/-]{40,110}"),
    Provider("provider_key", "a Dynatrace token", "dt0", r"dt0[a-z]\d\d\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    Provider("provider_key", "an EasyPost key", "EZ", r"EZ[AT]K[A-Za-z0-9]{54}"),
    Provider("provider_key", "a Facebook access token", "EAA", r"EAA[A-Za-z0-9]{80,300}", guard="random"),
    Provider("provider_key", "a GitLab runner token", "GR1348941", r"GR1348941[\w-]{20}"),
    Provider("provider_key", "a Grafana API key", "eyJrIjoi", r"eyJrIjoi[A-Za-z0-9+/=]{40,400}"),
    Provider("provider_key", "a LlamaCloud key", "llx-", r"llx-[A-Za-z0-9]{40,60}"),
    Provider("provider_key", "a Neon API key", "napi_", r"napi_[a-z0-9]{50,80}", guard="random"),
    Provider("provider_key", "a New Relic key", "NR", r"NR(?:II|RA|AA)-[\w-]{27,42}"),
    Provider("provider_key", "an OpenShift token", "sha256~", r"sha256~[\w-]{43}"),
    Provider("provider_key", "a PostHog personal key", "phx_", r"phx_[A-Za-z0-9]{40,60}"),
    Provider("provider_key", "a ReadMe API key", "rdme_", r"rdme_[a-z0-9]{70}"),
    Provider("provider_key", "a RunPod API key", "rpa_", r"rpa_[A-Za-z0-9]{28,60}", guard="random"),
    Provider("provider_key", "a Salesforce session", "00D", r"00D[A-Za-z0-9]{12,15}![\w.]{80,120}"),
    Provider("provider_key", "a Segment or Sourcegraph token", "sgp_", r"sgp_[A-Za-z0-9_]{56,70}"),
    Provider("provider_key", "a Packagist token", "packagist_", r"packagist_[a-z]{3}_[0-9a-f]{30,80}"),
    Provider("provider_key", "a Vercel token", "vc", r"vc[a-z]_[\w-]{56}(?![\w-])", guard="random"),
    Provider("provider_key", "a HashiCorp Vault token", "s.", r"s\.[A-Za-z0-9]{24}(?![\w.])", guard="random"),
    Provider("provider_key", "a Yandex Cloud API key", "AQVN", r"AQVN[\w-]{35,40}"),
    Provider("provider_key", "a Weights & Biases key", "wandb_v1_", r"wandb_v1_[\w-]{40,120}"),
)

PROVIDERS = MODELS + CLOUDS + CODE + MESSAGES_AND_MONEY + OTHERS
