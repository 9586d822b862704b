/** `refcheck help fleet`. */
export default `FLEET
  One store on one machine needs nothing of this page. Two offices, a cron host,
  receivers behind a load balancer or containers without a disk must share one
  store, or the same person can be ordered by each of them. That store is a
  PostgreSQL database (14 or later).

SET UP
    $ export REFCHECK_STORE='postgres://hr@db.acme.com/hr?sslmode=verify-full'
    $ refcheck store migrate
    $ refcheck store info

  store migrate makes the tables; nothing else makes or changes them. Run it
  again after an update, once every machine has the new version. Off this
  machine sslmode=verify-full is required; sslrootcert=FILE names your own
  authority. The password comes from the URL, PGPASSWORD, PGPASSFILE or
  ~/.pgpass. Write @ : / ? # % in a URL’s password as %40 %3A %2F %3F %23 %25.

  store move FROM TO takes a store that is there along, file or database.
  A pooler must be in session mode: rows are held by locks of the session.

WORK
    $ refcheck batch queue people.csv --package 102
    $ refcheck worker --output /var/lib/refcheck/reports --health-port 9400
    $ refcheck webhook listen --host 0.0.0.0 --forward-to https://hr.acme.com/in

  Any number of each, on any machine. Together they stay within the quota of
  each key, by the clock of the database. Give each profile its own account
  where one store serves several organisations: refcheck config set account.

WHEN THE DATABASE IS AWAY
  Nothing is sent that is not recorded. What runs waits for up to 10 minutes,
  says so once, and goes on by itself. With asynchronous replication a standby
  that takes over may have forgotten the last orders: the store is then closed,
  and "refcheck store check" says which. store info and doctor say which
  replication is in force. Runners without a disk that lasts need synchronous
  replication (synchronous_standby_names).

SYSTEMD
    [Unit]
    Description=refcheck worker

    [Service]
    User=refcheck
    Environment=REFCHECK_STORE=postgres://hr@db.acme.com/hr?sslmode=verify-full
    Environment=REFCHECK_CONFIG_DIR=/var/lib/refcheck/config
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
        environment: { REFCHECK_CONFIG_DIR: /config }
        volumes: [ "config:/config" ]
        restart: always
    volumes: { db: , config: }

  /config holds the list of attempts: keep it on a volume. The worker shares the
  database’s network here, so that postgres://hr@127.0.0.1/hr needs no TLS.

BEYOND ONE SERVER
  A key is ordered at most 1,000 times an hour: 0.28 orders a second. One server
  that takes 500 orders a second has room for about 1,800 keys at their full
  quota. Beyond that give each group of accounts a database of its own: accounts
  never share people, so no order has to be compared across them.
`
