/** The text of `refcheck help fleet`. */
export default `FLEET
  If everything runs on one machine, you need nothing on this page. Several
  machines (two offices, a cron host, receivers behind a load balancer,
  containers) must share one store, or each of them can order the same person.
  The shared store is a PostgreSQL database (14 or later).

SET UP
    $ export REFCHECK_STORE='postgres://hr@db.acme.com/hr?sslmode=verify-full'
    $ refcheck store migrate
    $ refcheck store info

  store migrate makes the tables. Run it again after an update, once every
  machine has the new version. A database on another machine requires
  sslmode=verify-full; sslrootcert=FILE names a certificate authority of your
  own. The password comes from the URL, PGPASSWORD, PGPASSFILE or ~/.pgpass. In
  a URL write @ : / ? # % of a password as %40 %3A %2F %3F %23 %25.

  store move FROM TO copies an existing store there, from a file or a database.
  A connection pooler must be in session mode: rows are locked by the session.

WORK
    $ refcheck batch queue people.csv --package 102
    $ refcheck worker --output /var/lib/refcheck/reports --health-port 9400
    $ refcheck webhook listen --host 0.0.0.0 --forward-to https://hr.acme.com/in

  Run any number of each, on any machine. Together they stay within the quota
  of each key. If one store serves several organisations, give each profile an
  account before anything is queued ("refcheck store accounts add acme", then
  "refcheck config set account acme --profile acme"), and start the workers with
  --profiles all. While a queued batch has no profile, /readyz answers 503.

IF THE DATABASE IS UNAVAILABLE
  Nothing is sent that is not recorded. Running commands wait for up to 10
  minutes, say so once, and continue by themselves. With asynchronous
  replication, a standby that takes over may lack the last orders: the store is
  then closed until "refcheck store check" has run on every machine that ordered
  (or with --without NAME). store info and doctor show the kind of replication.
  Machines without a lasting disk need synchronous_standby_names.

SYSTEMD
    [Service]
    User=refcheck
    Environment=REFCHECK_STORE=postgres://hr@db.acme.com/hr?sslmode=verify-full
    Environment=REFCHECK_CONFIG_DIR=/var/lib/refcheck/config
    Environment=REFCHECK_DATA_DIR=/var/lib/refcheck/data
    EnvironmentFile=/etc/refcheck/secrets
    ExecStart=/usr/bin/refcheck worker --health-port 9400
    Restart=always
    TimeoutStopSec=90

    [Install]
    WantedBy=multi-user.target

COMPOSE
    services:
      db:
        image: postgres:18
        env_file: [ db.env ]  # POSTGRES_USER, _DB and _PASSWORD
        volumes: [ "db:/var/lib/postgresql" ]
      worker:
        build: .
        command: refcheck worker --health-port 9400 --health-host 0.0.0.0
        network_mode: "service:db"
        stop_grace_period: 90s
        env_file: [ secrets.env ]  # REFCHECK_STORE, PGPASSWORD, the key
        environment:
          REFCHECK_CONFIG_DIR: /refcheck/config
          REFCHECK_DATA_DIR: /refcheck/data
        volumes: [ "refcheck:/refcheck" ]
        restart: always
    volumes: { db: , refcheck: }

  /refcheck holds the list of attempts: keep it on a volume. The worker uses the
  database’s network here, so that postgres://hr@127.0.0.1/hr needs no TLS.

BEYOND ONE SERVER
  One server that records 500 orders a second is enough for about 1,800 keys at
  their full quota. Beyond that, give each group of accounts its own database:
  accounts never share people, so no order is compared across them.
`
