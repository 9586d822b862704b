/** The text of `refcheck help environment`. */
export default `ENVIRONMENT
  A flag overrides the environment, the environment overrides the profile, and
  the profile overrides the default.

  REFCHECK_PROFILE         profile to use
  REFCHECK_BASE_URL        base URL of the service
  REFCHECK_API_KEY         API key
  REFCHECK_USER_EMAIL      e-mail of the user who makes the calls
  REFCHECK_WEBHOOK_SECRET  secret for the webhook commands
  REFCHECK_FOREIGN_API_KEY
                           key of another organisation, for
                           sandbox conformance --foreign-user
  REFCHECK_SANDBOX_TOKEN   what steers a sandbox that other machines can reach,
                           at least 16 characters (refcheck help sandbox)
  REFCHECK_ACCOUNT         whose people these are, where one store serves
                           several organisations
  REFCHECK_STORE           where orders are recorded: a file, postgres://… (see
                           refcheck help fleet), or :memory: (only with a
                           service on this machine)
  REFCHECK_QUOTA           quota windows of a sandbox, calls/seconds, such as
                           60/60,1000/3600 (only with a service on this machine)
  REFCHECK_CONFIG_DIR      folder of settings, profiles and attempt logs
  REFCHECK_DATA_DIR        folder of the store
                           Either is an absolute path, and is made for you alone
                           (0700) where it is missing. One that exists keeps its
                           mode, and what is written in it is yours alone
                           (0600); if another user owns it or a folder above it,
                           or may write to it, it is refused.

  REFCHECK_STARTED_BY_AGENT
                           set by refcheck mcp in what it starts; while it is
                           set, no plan is approved (refcheck help agents)

  NO_COLOR                 print without colours
  HTTPS_PROXY, NO_PROXY    proxy, and hosts to call without it
  NODE_EXTRA_CA_CERTS      file with certificate authorities to trust as well
  NODE_USE_SYSTEM_CA       1: trust the authorities of this machine as well

WITHOUT A LOGIN
  A container or a CI job needs no profile. These three are enough:

    export REFCHECK_BASE_URL=https://api.example.com
    export REFCHECK_USER_EMAIL=ana@example.com
    export REFCHECK_API_KEY=...        # from your secret store
    refcheck packages list --status active

  In PowerShell: $env:REFCHECK_BASE_URL = 'https://api.example.com'

  The store and its attempt log must outlive the container: put both
  REFCHECK_DATA_DIR and REFCHECK_CONFIG_DIR on a volume that lasts.

  Keys and secrets are refused as command-line arguments, because other users
  of the machine could read them there.

SETTINGS
  Defaults that you set once, for all profiles or with --profile for one:

    $ refcheck config list
    $ refcheck config set package 102
    $ refcheck config set output-dir reports --profile acme

PROFILES
    $ refcheck auth login --profile acme
    $ refcheck auth list
    $ refcheck auth switch acme
    $ refcheck auth status
    $ refcheck auth logout acme

ADDRESSES
  https:// is required; http:// is allowed for this machine only (127.0.0.1,
  ::1, localhost). Redirects are not followed. The API key is sent to the base
  URL and nowhere else.

PROBLEMS
    $ refcheck doctor

  checks folders, certificates, proxy, store, profile, service, clock, key and
  quota, and says what to do about each problem.
`
