'use strict'

/** @type {string} Not its literal type, because the bundle is only in the published package. */
const bundle = '../lib/strongroom.js'

import(bundle).catch((error) => {
  console.error(error)
  process.exitCode = 1
})
