/* What cli-table3 measures text with, without its emoji patterns, which take as long to compile as Node to start. */
const width = require('fast-string-width').default

module.exports = (text) => (/^[ -~]*$/.test(text) ? text.length : width(text))
