#!/usr/bin/env node
// The launcher of the published package. This file must parse on every Node, so that an old one gets a
// sentence instead of a syntax error.
'use strict'

var version = process.versions.node
var parts = version.split('.')
var major = Number(parts[0])
var minor = Number(parts[1])

if (major > 20 || (major === 20 && minor >= 19)) {
  module.exports = require('./run.cjs')
} else {
  var needed = 'Strongroom needs Node 20.19 or newer, '
  console.error(needed + 'this is ' + version + ': get one at nodejs.org')
  process.exitCode = 1
}
