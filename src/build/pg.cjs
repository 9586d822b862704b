'use strict'
/* Exports only the client of pg, without its pool, native part and parser of connection strings. */
exports.Client = require('pg/lib/client.js')
exports.types = require('pg-types')
