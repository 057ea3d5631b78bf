// The benchmark: runs the selected sections one after the other and prints a report. Exits with 1 if a
// target is missed.

import { fileURLToPath } from 'node:url'
import { writeDocument } from './document.ts'
import { type Options, readOptions, type Section, USAGE } from './options.ts'
import { busyNote, machine, report, summary } from './report.ts'
import type { Result } from './result.ts'
import { dynaliteSection } from './sections/dynalite.ts'
import { engineSection } from './sections/engine.ts'
import { ferryhookSection } from './sections/ferryhook.ts'
import { formBridgeSection } from './sections/form-bridge.ts'
import { growthSection } from './sections/growth.ts'
import { httpSection } from './sections/http.ts'
import { keyStoreSection } from './sections/key-store.ts'
import { openSection } from './sections/open.ts'
import { peersSection } from './sections/peers.ts'
import { relaySection } from './sections/relay.ts'
import { sealedPeerSection } from './sections/sealed-peer.ts'
import { sealedSection } from './sections/sealed.ts'
import { startSection } from './sections/start.ts'
import { twoKeySection } from './sections/two-key.ts'
import { Workspace } from './workspace.ts'

const DOCS = fileURLToPath(new URL('../../docs', import.meta.url))

const sections: Record<Section, (workspace: Workspace, options: Options) => Promise<Result>> = {
  engine: engineSection,
  dynalite: dynaliteSection,
  open: openSection,
  growth: growthSection,
  peers: peersSection,
  http: httpSection,
  'key-store': keyStoreSection,
  sealed: sealedSection,
  'sealed-peer': sealedPeerSection,
  ferryhook: ferryhookSection,
  relay: relaySection,
  'two-key': twoKeySection,
  'form-bridge': formBridgeSection,
  start: startSection,
}

async function run(options: Options): Promise<void> {
  const workspace = new Workspace()
  const busy = busyNote()
  const results = new Map<Section, Result>()
  try {
    if (!options.json) console.log(`${[machine(), busy].filter(Boolean).join('\n')}\n`)
    for (const name of options.sections) {
      // oxlint-disable-next-line no-await-in-loop -- sections must not disturb each other
      const result = await sections[name](workspace, options)
      results.set(name, result)
      if (!options.json) console.log(report(result))
    }
  } finally {
    workspace.remove()
  }
  const all = [...results.values()]
  if (options.write) writeDocument(DOCS, results, { parameters: process.argv.slice(2), busy })
  console.log(
    options.json ? JSON.stringify({ machine: machine(), results: all }, null, 2) : summary(all),
  )
  if (all.some(({ targets }) => targets.some(({ met }) => !met))) process.exitCode = 1
}

try {
  const options = readOptions(process.argv.slice(2))
  if (options === undefined) console.log(USAGE)
  else await run(options)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
}
