/*
 * Measures the width of text for cli-table3 without its emoji patterns, whose compilation takes as long as starting
 * Node.
 */
const width = require('fast-string-width').default

module.exports = (text) => (/^[ -~]*$/.test(text) ? text.length : width(text))
