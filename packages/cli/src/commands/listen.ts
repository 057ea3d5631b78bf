/** `strongroom listen`: forwards the events of a source to a local program. */
import { startTimer } from '@strongroom/platform/timers'
import { parseUrl } from '@strongroom/kit/parse-url'
import { type Command, type CommandInput, type Output, usageError } from '../command.ts'
import { parseAccess, ferryhookOptions, createFerryhookClient } from '../ferryhook/api.ts'
import { findSource, isId } from '../ferryhook/find.ts'
import { escapeControls, pluralize } from '../output.ts'
import { stopSignal } from '../stop-signal.ts'
import { createForwarder, type Forwarded, type LiveEvent } from '../ferryhook/listen-forward.ts'
import { listen } from '../ferryhook/listen-session.ts'

const listenCommand: Command = {
  name: 'listen',
  kind: 'client',
  summary: "Forward a source's events to a local URL",
  args: 'SOURCE',
  options: {
    forward: {
      value: 'URL',
      summary: 'Local URL, such as http://localhost:3000/hook; required',
    },
    type: {
      value: 'TYPE',
      summary: 'Only events of this type, such as invoice.paid or "invoice.*"',
    },
    ...ferryhookOptions,
  },
  about: `SOURCE is an id, or a unique name. The API key needs the permission read. Forwards each new event
with its original method, headers and bytes, one after the other. Reconnects by itself and continues
where it stopped. Events whose verification failed are not forwarded.`,
  async run(input) {
    const { sourceId, forward, server, key } = await parseInput(input)
    const { output, options } = input
    const stop = new AbortController()
    void stopSignal().then(() => stop.abort())
    const forwarder = createForwarder(forward)
    const counts = { answered: 0, failed: 0, skipped: 0 }
    let wasReady = false
    try {
      await listen({
        server,
        sourceId,
        type: typeof options['type'] === 'string' ? options['type'] : undefined,
        key,
        signal: stop.signal,
        startTimer,
        random: Math.random,
        async onEvent(event) {
          if (event.unverified) {
            counts.skipped += 1
            return printSkipped(output, event)
          }
          const forwarded = await forwarder.forward(event, stop.signal)
          counts[forwarded.status === undefined ? 'failed' : 'answered'] += 1
          printForwarded(output, event, forwarded)
        },
        onReady({ again }) {
          wasReady = true
          const first = `Ready: forwarding events of ${sourceId} to ${forward.href}. Press Ctrl+C to stop`
          output.line(again ? 'Reconnected' : first, { type: 'ready', again })
        },
        onBreak: ({ reason, retryInMs }) =>
          output.line(`Disconnected (${reason}): reconnecting in ${seconds(retryInMs)} s`, {
            type: 'disconnected',
            reason,
            retryInMs,
          }),
        onGap: () =>
          output.line(
            'Events received while disconnected were not forwarded: see "strongroom events list"',
            { type: 'gap' },
          ),
      })
    } finally {
      forwarder.close()
      if (wasReady) printSummary(output, counts)
    }
  },
}

async function parseInput(input: CommandInput) {
  const [source = ''] = input.args
  const forward = parseForwardUrl(input.options['forward'])
  const { server, key } = parseAccess(input)
  if (isId('src', source)) return { sourceId: source, forward, server, key }
  const { id: sourceId } = await findSource(createFerryhookClient({ server, key }), source)
  return { sourceId, forward, server, key }
}

function parseForwardUrl(forward: string | boolean | undefined): URL {
  const url = typeof forward === 'string' ? parseUrl(forward) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw usageError('--forward must be an http or https URL, such as http://localhost:3000/hook')
  }
  return url
}

function printForwarded(output: Output, event: LiveEvent, { status, error, ms }: Forwarded): void {
  const type = event.type === null ? '' : `  ${escapeControls(event.type)}`
  output.line(`${timeOf(event)}  ${event.id}${type}  ${status ?? error}  ${ms} ms`, {
    type: 'event',
    id: event.id,
    eventType: event.type,
    receivedAt: event.receivedAt,
    status: status ?? null,
    ...(error !== undefined && { error }),
    ms,
  })
}

function printSkipped(output: Output, event: LiveEvent): void {
  const { id, receivedAt } = event
  output.line(`${timeOf(event)}  ${id}  not forwarded: signature verification failed`, {
    type: 'skipped',
    id,
    receivedAt,
  })
}

function printSummary(
  output: Output,
  { answered, failed, skipped }: { answered: number; failed: number; skipped: number },
): void {
  const all = pluralize(answered + failed + skipped, 'event')
  output.line(`${all}: ${answered} answered, ${failed} failed, ${skipped} not forwarded`, {
    type: 'summary',
    answered,
    failed,
    skipped,
  })
}

function timeOf({ receivedAt }: LiveEvent): string {
  return new Date(receivedAt).toLocaleTimeString('en-GB')
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}

export const commands: readonly Command[] = [listenCommand]
