// A tenant who does nothing unusual, with sources and a destination of its own.

import { createAccounts } from './api.ts'
import { dryRunOf, scriptOf } from './attacks.ts'
import { openSink } from './sink.ts'

/** The tasks of a source are in one of eight shards, so some sources share theirs with an attacker. */
const SOURCES = 24

export interface Victim {
  /** Sends an event to the next of its sources. */
  sendEvent(): Promise<void>
  /** Dry-runs a script that takes no time itself. */
  runScript(): Promise<void>
  /** The slowest since the last call, in milliseconds. */
  takeFigures(): { scriptMs: number; deliveryMs: number; lostEvents: number }
  close(): Promise<void>
}

export async function createVictim(
  url: string,
  onRejected: (text: string) => void,
): Promise<Victim> {
  const sink = await openSink()
  const owner = await createAccounts(url, 'victim', sink.url('/victim'))()
  const sources: string[] = []
  while (sources.length < SOURCES) {
    // oxlint-disable-next-line no-await-in-loop -- the server limits a user's requests
    sources.push(await owner.source({}, [{}]))
  }
  const script = await dryRunOf(owner, scriptOf('const transform = () => ({})'))
  const sent = new Map<string, number>()
  let events = 0
  let scripts: number[] = []

  return {
    async sendEvent() {
      const event = String(events++)
      sent.set(event, performance.now())
      const response = await fetch(`${url}/in/${sources[events % SOURCES]}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id: event }),
      })
      const text = await response.text()
      // It counts as lost.
      if (!response.ok) onRejected(`An event of another tenant got ${response.status}: ${text}`)
    },
    async runScript() {
      const from = performance.now()
      await script()
      scripts.push(performance.now() - from)
    },
    takeFigures() {
      const arrivals = sink.arrivals('/victim')
      const times = [...sent].flatMap(([event, at]) => {
        const arrivedAt = arrivals.get(event)
        return arrivedAt === undefined ? [] : [arrivedAt - at]
      })
      const figures = {
        scriptMs: Math.max(0, ...scripts),
        deliveryMs: Math.max(0, ...times),
        lostEvents: sent.size - times.length,
      }
      sent.clear()
      scripts = []
      return figures
    },
    close: () => sink.close(),
  }
}
