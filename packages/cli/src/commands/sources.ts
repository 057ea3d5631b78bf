/** `strongroom sources …`: the addresses of Ferryhook that webhooks are sent to. */
import { systemClock } from '@strongroom/kit/clock'
import type { Command } from '../command.ts'
import { accessIn, atFerryhook, ferryhookAt } from '../ferryhook/api.ts'
import { allSources, findSource } from '../ferryhook/find.ts'
import { lifecycleCommands } from '../ferryhook/lifecycle.ts'
import { givenSecret, refuseSecret, secretHelp } from '../ferryhook/signing-secret.ts'
import { providersHelp, settingsIn, sourceSettings } from '../ferryhook/source-settings.ts'
import { sourceFacts } from '../ferryhook/source-text.ts'
import type { Source } from '../ferryhook/views.ts'
import { columns, printable, relative } from '../for-people.ts'
import { readSecret } from '../read-secret.ts'

/** The server counts what has settled, and not for every event. */
const COUNTED_LATER =
  'Events are counted every few minutes; "strongroom events list" has them at once.'

export const sourcesList: Command = {
  name: 'sources list',
  summary: 'List the sources of Ferryhook',
  options: atFerryhook,
  about: COUNTED_LATER,
  async run(input) {
    const sources = await allSources(ferryhookAt(accessIn(input)))
    const now = systemClock.now()
    const rows = sources.map(({ id, name, provider, status, lastEventAt, eventCount }) => [
      id,
      printable(name),
      provider,
      status,
      lastEventAt === null ? 'none counted' : relative(lastEventAt, now),
      String(eventCount),
    ])
    const head = ['ID', 'NAME', 'PROVIDER', 'STATUS', 'LAST EVENT', 'EVENTS']
    const none = 'There are no sources: add one with "strongroom sources add"\n'
    input.output.result(rows.length === 0 ? none : columns([head, ...rows]), sources)
  },
}

export const sourcesAdd: Command = {
  name: 'sources add',
  args: 'NAME',
  summary: 'Add a source and print the URL to point the sender at',
  options: { ...sourceSettings, ...atFerryhook },
  about: `${providersHelp} Unless given, custom.

${secretHelp}
A custom source without --algorithm needs none, and takes whatever comes.`,
  async run(input) {
    const { unsigned, algorithm } = input.options
    const { provider = 'custom', ...chosen } = await settingsIn(input)
    const ask = ferryhookAt(accessIn(input))
    const given = await givenSecret(input)
    refuseSecret(given, input)
    const needsNone = unsigned === true || (provider === 'custom' && algorithm === undefined)
    const signingSecret = given ?? (needsNone ? undefined : await readSecret('Signing secret: '))
    const body = { name: input.args[0], provider, signingSecret, ...chosen }
    const source = await ask<Source>('POST', '/sources', body)
    if (!source.hasSigningSecret) input.output.progress(NOT_VERIFIED)
    input.output.result(`${source.url}\n`, source)
  },
}

const NOT_VERIFIED = 'It has no signing secret: whatever comes is taken'

export const sourcesShow: Command = {
  name: 'sources show',
  args: 'SOURCE',
  summary: 'Show a source: its URL, how it is verified, when something came',
  options: atFerryhook,
  about: `SOURCE is an id, or a name that only one source has. ${COUNTED_LATER}`,
  async run(input) {
    const source = await findSource(ferryhookAt(accessIn(input)), input.args[0] ?? '')
    input.output.result(sourceFacts(source, systemClock.now()), source)
  },
}

export const {
  pause: sourcesPause,
  resume: sourcesResume,
  remove: sourcesRemove,
} = lifecycleCommands({
  kind: 'sources',
  args: 'SOURCE',
  find: findSource,
  summaries: {
    pause: 'Pause a source: it takes no events',
    resume: 'Let a paused source go on',
    remove: 'Remove a source with its connections; what came to it stays until it expires',
  },
})
