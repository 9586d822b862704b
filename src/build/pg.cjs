'use strict'
/* Of pg the client alone: no pool, no native part, no reader of connection strings. */
exports.Client = require('pg/lib/client.js')
exports.types = require('pg-types')
