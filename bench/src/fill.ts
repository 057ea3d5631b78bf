// Fills the cache of the section `stored-events`.

import { parseArgs } from 'node:util'
import { wholeNumber } from './options.ts'
import { filledDirectory } from './fill/cache.ts'

const USAGE = `node bench/fill.mjs [--events <n>]

  --events    delivered events to store (default 1,000,000: about 10 GB of disk)

The directory is kept in BENCH_CACHE, or in strongroom/bench of the user's cache directory.
`

try {
  const { values } = parseArgs({
    options: {
      events: { type: 'string', default: '1000000' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) console.log(USAGE)
  else {
    const started = performance.now()
    const before = process.cpuUsage()
    const filled = await filledDirectory(wholeNumber('events', values.events))
    const { user, system } = process.cpuUsage(before)
    const seconds = (performance.now() - started) / 1000
    console.log(
      `${filled.directory}: ${filled.events.toLocaleString('en')} delivered events, ${(filled.bytesPerEvent / 1000).toFixed(1)} KB each; ${seconds.toFixed(0)} s, ${((user + system) / 1e6).toFixed(0)} s of CPU`,
    )
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
}
