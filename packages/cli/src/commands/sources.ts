/** `strongroom sources …`: Ferryhook's sources, the URLs that providers send webhooks to. */
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
import { eventCountText, sourceText } from '../ferryhook/text.ts'
import { createStatusCommands } from '../ferryhook/status-commands.ts'
import type { Source } from '../ferryhook/views.ts'
import { readSecret } from '../input.ts'
import { columns, escapeControls, formatRelative } from '../output.ts'
import { sourcesRotate } from '../ferryhook/rotate-commands.ts'

const sourcesList: Command = {
  name: 'sources list',
  kind: 'client',
  summary: 'List the sources of Ferryhook',
  options: ferryhookOptions,
  async run(input) {
    const sources = await listSources(createFerryhookClient(parseAccess(input)))
    const now = systemClock.now()
    const rows = sources.map((source) => [
      source.id,
      escapeControls(source.name),
      source.provider,
      source.status,
      source.verifies ? 'yes' : 'no',
      source.lastEventAt === null ? 'none' : formatRelative(source.lastEventAt, now),
      eventCountText(source),
    ])
    const head = ['ID', 'NAME', 'PROVIDER', 'STATUS', 'VERIFIES', 'LAST EVENT', 'EVENTS']
    const none = 'There are no sources: add one with "strongroom sources add"\n'
    input.output.result(rows.length === 0 ? none : columns([head, ...rows]), sources)
  },
}

const sourcesAdd: Command = {
  name: 'sources add',
  kind: 'client',
  args: 'NAME',
  summary: 'Add a source and print the URL to point the sender at',
  options: { ...sourceOptions, ...ferryhookOptions },
  about: `${providersHelp} Unless given, custom.

${secretHelp}
A custom source without --algorithm needs no secret and accepts all requests.`,
  async run(input) {
    const { unsigned, algorithm } = input.options
    const { provider = 'custom', ...chosen } = await parseSourceSettings(input)
    const api = createFerryhookClient(parseAccess(input))
    const given = await readConfiguredSecret(input)
    rejectSecretIfUnsigned(given, input)
    const isOff = unsigned === true || algorithm === 'none'
    const needsNone = isOff || (provider === 'custom' && algorithm === undefined)
    const signingSecret = given ?? (needsNone ? undefined : await readSecret('Signing secret: '))
    const body = { name: input.args[0], provider, signingSecret, ...chosen }
    const source = await api<Source>('POST', '/sources', body)
    if (!source.verifies) input.output.progress(NOT_VERIFIED)
    input.output.result(`${source.url}\n`, source)
  },
}

const NOT_VERIFIED = 'The source does not verify: it accepts all requests'

const sourcesShow: Command = {
  name: 'sources show',
  kind: 'client',
  args: 'SOURCE',
  summary: 'Show a source: URL, verification, last event',
  options: ferryhookOptions,
  about: 'SOURCE is an id, or a unique name.',
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
    remove: 'Remove a source and its connections; its events remain until they expire',
  },
})

const sourcesChange: Command = {
  name: 'sources change',
  kind: 'client',
  args: 'SOURCE',
  summary: "Update a source's name, verification, methods or event id field",
  options: {
    name: { value: 'NAME', summary: 'New name' },
    ...sourceOptions,
    ...ferryhookOptions,
  },
  about: `SOURCE is an id, or a unique name. Options that you omit stay unchanged. A new secret
replaces the current ones immediately; "strongroom sources rotate" allows an overlap. Changing the
verification requires an API key with the permission admin.

${providersHelp}`,
  async run(input) {
    const { name, unsigned } = input.options
    const given = await readSecretOption(input)
    rejectSecretIfUnsigned(given, input)
    const signingSecret = unsigned === true ? null : given
    const body = { name, signingSecret, ...(await parseSourceSettings(input)) }
    requireChange('sources change', body)
    const api = createFerryhookClient(parseAccess(input))
    const { id } = await findSource(api, input.args[0] ?? '')
    const source = await api<Source>('PATCH', `/sources/${id}`, body)
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
