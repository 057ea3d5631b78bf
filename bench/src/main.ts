// The benchmark: runs the selected sections one after the other and prints a report. Sections with main targets
// run as often as asked.
// Exits with 1 if a target is missed.

import { fileURLToPath } from 'node:url'
import { writeDocument } from './document.ts'
import { type Options, readOptions, type Section, USAGE } from './options.ts'
import { combine } from './repeat.ts'
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
import { overloadSection } from './sections/overload.ts'
import { peersSection } from './sections/peers.ts'
import { relaySection } from './sections/relay.ts'
import { sealedPeerSection } from './sections/sealed-peer.ts'
import { sealedSection } from './sections/sealed.ts'
import { startSection } from './sections/start.ts'
import { storedEventsSection } from './sections/stored-events.ts'
import { twoKeySection } from './sections/two-key.ts'
import { Workspace } from './workspace.ts'

const DOCS = fileURLToPath(new URL('../../docs', import.meta.url))

const sections: Record<Section, (workspace: Workspace, options: Options) => Promise<Result>> = {
  overload: overloadSection,
  start: startSection,
  'stored-events': storedEventsSection,
  http: httpSection,
  relay: relaySection,
  ferryhook: ferryhookSection,
  'sealed-peer': sealedPeerSection,
  sealed: sealedSection,
  'key-store': keyStoreSection,
  'two-key': twoKeySection,
  'form-bridge': formBridgeSection,
  engine: engineSection,
  dynalite: dynaliteSection,
  open: openSection,
  growth: growthSection,
  peers: peersSection,
}

async function run(options: Options): Promise<void> {
  const startedAt = performance.now()
  const workspace = new Workspace()
  const busy = busyNote()
  const measured = new Map<Section, Result[]>(options.sections.map((name) => [name, []]))
  const print = (text: string) => (options.json ? undefined : console.log(text))
  try {
    print(`${[machine(), busy].filter(Boolean).join('\n')}\n`)
    for (let number = 1; number <= options.runs; number++) {
      if (options.runs > 1) print(`Run ${number} of ${options.runs}\n`)
      for (const [name, results] of measured) {
        // Only main targets are promises to users, and so worth the time.
        if (number > 1 && !hasMainTarget(results)) continue
        const sectionStart = performance.now()
        // oxlint-disable-next-line no-await-in-loop -- sections must not disturb each other
        const result = await sections[name](workspace, options)
        results.push(result)
        print(report(result))
        print(`${name}: ${secondsSince(sectionStart)} s\n`)
      }
    }
  } finally {
    workspace.remove()
  }
  const results = new Map([...measured].map(([name, runs]) => [name, combine(runs)]))
  const all = [...results.values()]
  if (options.write) {
    const { runs } = options
    writeDocument(DOCS, results, { parameters: process.argv.slice(2), busy, runs })
  }
  if (options.json) console.log(JSON.stringify({ machine: machine(), results: all }, null, 2))
  print(`${summary(all)}\n\nThe whole run took ${secondsSince(startedAt)} s.`)
  if (all.some(({ targets }) => targets.some(({ met }) => !met))) process.exitCode = 1
}

function hasMainTarget(results: readonly Result[]): boolean {
  return results.some(({ targets }) => targets.some(({ isMain }) => isMain))
}

function secondsSince(start: number): string {
  return ((performance.now() - start) / 1000).toFixed(0)
}

try {
  const options = readOptions(process.argv.slice(2))
  if (options === undefined) console.log(USAGE)
  else await run(options)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
}
