/** `strongroom sources …`: the addresses of Ferryhook that webhooks are sent to. */
import { systemClock } from '@strongroom/platform/clock'
import type { Command } from '../command.ts'
import { parseAccess, ferryhookOptions, createFerryhookClient } from '../ferryhook/api.ts'
import { listSources, findSource } from '../ferryhook/find.ts'
import {
  requireChange,
  providersHelp,
  parseSourceSettings,
  sourceOptions,
} from '../ferryhook/options.ts'
import {
  readConfiguredSecret,
  rejectSecretIfUnsigned,
  secretHelp,
  readSecretOption,
} from '../ferryhook/signing-secret.ts'
import { sourceText } from '../ferryhook/text.ts'
import { createStatusCommands } from '../ferryhook/status-commands.ts'
import type { Source } from '../ferryhook/views.ts'
import { readSecret } from '../input.ts'
import { columns, escapeControls, formatRelative } from '../output.ts'
import { sourcesRotate } from '../ferryhook/rotate-commands.ts'

/** The server counts what has settled, and not for every event. */
const COUNTED_LATER =
  'Events are counted every few minutes; "strongroom events list" has them at once.'

const sourcesList: Command = {
  name: 'sources list',
  summary: 'List the sources of Ferryhook',
  options: ferryhookOptions,
  about: COUNTED_LATER,
  async run(input) {
    const sources = await listSources(createFerryhookClient(parseAccess(input)))
    const now = systemClock.now()
    const rows = sources.map(({ id, name, provider, status, lastEventAt, eventCount }) => [
      id,
      escapeControls(name),
      provider,
      status,
      lastEventAt === null ? 'none counted' : formatRelative(lastEventAt, now),
      String(eventCount),
    ])
    const head = ['ID', 'NAME', 'PROVIDER', 'STATUS', 'LAST EVENT', 'EVENTS']
    const none = 'There are no sources: add one with "strongroom sources add"\n'
    input.output.result(rows.length === 0 ? none : columns([head, ...rows]), sources)
  },
}

const sourcesAdd: Command = {
  name: 'sources add',
  args: 'NAME',
  summary: 'Add a source and print the URL to point the sender at',
  options: { ...sourceOptions, ...ferryhookOptions },
  about: `${providersHelp} Unless given, custom.

${secretHelp}
A custom source without --algorithm needs none, and takes whatever comes.`,
  async run(input) {
    const { unsigned, algorithm } = input.options
    const { provider = 'custom', ...chosen } = await parseSourceSettings(input)
    const ask = createFerryhookClient(parseAccess(input))
    const given = await readConfiguredSecret(input)
    rejectSecretIfUnsigned(given, input)
    const needsNone = unsigned === true || (provider === 'custom' && algorithm === undefined)
    const signingSecret = given ?? (needsNone ? undefined : await readSecret('Signing secret: '))
    const body = { name: input.args[0], provider, signingSecret, ...chosen }
    const source = await ask<Source>('POST', '/sources', body)
    if (!source.hasSigningSecret) input.output.progress(NOT_VERIFIED)
    input.output.result(`${source.url}\n`, source)
  },
}

const NOT_VERIFIED = 'It has no signing secret: whatever comes is taken'

const sourcesShow: Command = {
  name: 'sources show',
  args: 'SOURCE',
  summary: 'Show a source: URL, verification, last event',
  options: ferryhookOptions,
  about: `SOURCE is an id, or a unique name. ${COUNTED_LATER}`,
  async run(input) {
    const source = await findSource(createFerryhookClient(parseAccess(input)), input.args[0] ?? '')
    input.output.result(sourceText(source, systemClock.now()), source)
  },
}

const {
  pause: sourcesPause,
  resume: sourcesResume,
  remove: sourcesRemove,
} = createStatusCommands({
  kind: 'sources',
  args: 'SOURCE',
  find: findSource,
  summaries: {
    pause: 'Pause a source (new events are rejected)',
    resume: 'Resume a paused source',
    remove: 'Remove a source with its connections; what came to it stays until it expires',
  },
})

// `strongroom sources change`: another name, provider, signature or id of events.

const sourcesChange: Command = {
  name: 'sources change',
  args: 'SOURCE',
  summary: "Update a source's name, verification or event id field",
  options: {
    name: { value: 'NAME', summary: 'New name' },
    ...sourceOptions,
    ...ferryhookOptions,
  },
  about: `SOURCE is an id, or a unique name. What is not given stays as it is. A secret
replaces those in force at once: "strongroom sources rotate" leaves the sender time. To change how
a source is verified needs an API key with the permission admin.

${providersHelp}`,
  async run(input) {
    const { name, unsigned } = input.options
    const given = await readSecretOption(input)
    rejectSecretIfUnsigned(given, input)
    const signingSecret = unsigned === true ? null : given
    const body = { name, signingSecret, ...(await parseSourceSettings(input)) }
    requireChange('sources change', body)
    const ask = createFerryhookClient(parseAccess(input))
    const { id } = await findSource(ask, input.args[0] ?? '')
    const source = await ask<Source>('PATCH', `/sources/${id}`, body)
    input.output.result(sourceText(source, systemClock.now()), source)
  },
}

export const commands: readonly Command[] = [
  sourcesList,
  sourcesAdd,
  sourcesShow,
  sourcesChange,
  sourcesPause,
  sourcesResume,
  sourcesRotate,
  sourcesRemove,
]
