'use strict'

import('../lib/strongroom.js').catch((error) => {
  console.error(error)
  process.exitCode = 1
})
