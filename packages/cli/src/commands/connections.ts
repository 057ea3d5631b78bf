/** `strongroom connections …`: delivers the events of Ferryhook sources to destinations. */
import { systemClock } from '@strongroom/platform/clock'
import { type Command, usageError } from '../command.ts'
import { parseAccess, ferryhookOptions, createFerryhookClient } from '../ferryhook/api.ts'
import { connectionsDryRun } from '../ferryhook/dry-run-command.ts'
import {
  connectionOptions,
  parseLimits,
  parseConnectionSettings,
  destinationHost,
  requireChange,
} from '../ferryhook/options.ts'
import {
  connectionText,
  connectionLine,
  type TestResult,
  printTestResult,
} from '../ferryhook/text.ts'
import { listSources, listConnections, findConnection, findSource } from '../ferryhook/find.ts'
import { createStatusCommands } from '../ferryhook/status-commands.ts'
import type { Connection } from '../ferryhook/views.ts'
import { columns, escapeControls } from '../output.ts'
import { connectionsRequests } from '../ferryhook/request-commands.ts'
import { connectionsRotate } from '../ferryhook/rotate-commands.ts'

const connectionsList: Command = {
  name: 'connections list',
  kind: 'client',
  args: '[SOURCE]',
  summary: 'List connections of a source, or of all sources',
  options: ferryhookOptions,
  about: 'SOURCE is an id, or a unique name.',
  async run(input) {
    const api = createFerryhookClient(parseAccess(input))
    const [given] = input.args
    const sources = given === undefined ? await listSources(api) : [await findSource(api, given)]
    const now = systemClock.now()
    const [found, rows]: [Connection[], string[][]] = [[], []]
    for (const { id, name } of sources) {
      const connections = await listConnections(api, id)
      found.push(...connections)
      rows.push(...connections.map((each) => connectionLine(each, escapeControls(name), now)))
    }
    const head = ['ID', 'NAME', 'SOURCE', 'DESTINATION', 'STATUS', 'DELIVERED', 'FAILED']
    const none = 'There are no connections: add one with "strongroom connections add"\n'
    input.output.result(rows.length === 0 ? none : columns([head, ...rows]), found)
  },
}

const connectionsAdd: Command = {
  name: 'connections add',
  kind: 'client',
  args: 'SOURCE URL',
  summary: "Deliver a source's events to a URL and print the signing secret (shown once)",
  options: {
    name: { value: 'NAME', summary: 'Name; the host of the URL by default' },
    ...connectionOptions,
    ...ferryhookOptions,
  },
  about: `SOURCE is an id, or a unique name. The destination verifies signatures with the secret, with
any Standard Webhooks library. The server delivers to public https addresses;
FERRYHOOK_ALLOWED_NETWORKS and FERRYHOOK_ALLOW_HTTP allow others. The URL test:200, or another status,
is the built-in test destination: "strongroom connections requests" shows what it received.`,
  async run(input) {
    const [source = '', url] = input.args
    const { options, output } = input
    if (url === undefined) throw usageError('Missing destination: pass SOURCE and URL')
    const name = typeof options['name'] === 'string' ? options['name'] : destinationHost(url)
    const body = {
      name,
      destinationUrl: url,
      ...(await parseConnectionSettings(input)),
      limits: parseLimits(input),
    }
    const api = createFerryhookClient(parseAccess(input))
    const { id } = await findSource(api, source)
    const made = await api<Connection & { signingSecret: string }>(
      'POST',
      `/sources/${id}/connections`,
      body,
    )
    output.progress('Store the secret with the destination: it is not shown again')
    const facts = [
      ['connection', made.id],
      ['name', escapeControls(made.name)],
      ['destination', escapeControls(made.destinationUrl)],
      ['secret', made.signingSecret],
    ]
    output.result(columns(facts), made)
  },
}

const connectionsShow: Command = {
  name: 'connections show',
  kind: 'client',
  args: 'CONNECTION',
  summary: 'Show a connection: destination, filters, health',
  options: ferryhookOptions,
  about: 'CONNECTION is an id, or a unique name.',
  async run(input) {
    const api = createFerryhookClient(parseAccess(input))
    const connection = await findConnection(api, input.args[0] ?? '')
    const { name } = await findSource(api, connection.sourceId)
    input.output.result(connectionText(connection, name, systemClock.now()), connection)
  },
}

const {
  pause: connectionsPause,
  resume: connectionsResume,
  remove: connectionsRemove,
} = createStatusCommands({
  kind: 'connections',
  args: 'CONNECTION',
  find: findConnection,
  summaries: {
    pause: 'Pause a connection; events are held for up to 30 days',
    resume: 'Resume a paused connection and deliver the events it holds',
    remove: 'Remove a connection',
  },
})

const connectionsChange: Command = {
  name: 'connections change',
  kind: 'client',
  args: 'CONNECTION',
  summary: "Update a connection's destination, filter, transform, retries or limits",
  options: {
    name: { value: 'NAME', summary: 'New name' },
    url: { value: 'URL', summary: 'New destination URL' },
    ...connectionOptions,
    ...ferryhookOptions,
  },
  about: `CONNECTION is an id, or a unique name. Options that you omit stay unchanged. Sending its
stored headers to another address requires an API key with the permission admin.`,
  async run(input) {
    const { name, url: destinationUrl } = input.options
    if (typeof destinationUrl === 'string') destinationHost(destinationUrl)
    const given = { name, destinationUrl, ...(await parseConnectionSettings(input)) }
    requireChange('connections change', { ...given, limits: parseLimits(input) })
    const api = createFerryhookClient(parseAccess(input))
    const before = await findConnection(api, input.args[0] ?? '')
    const { rev } = before
    const body = { ...given, limits: parseLimits(input, before.limits), rev }
    const changed = await api<Connection>('PATCH', `/connections/${before.id}`, body)
    const source = await findSource(api, changed.sourceId)
    input.output.result(connectionText(changed, source.name, systemClock.now()), changed)
  },
}

const connectionsTest: Command = {
  name: 'connections test',
  kind: 'client',
  args: 'CONNECTION',
  summary: 'Send one signed test event to a destination',
  options: ferryhookOptions,
  about: 'CONNECTION is an id, or a unique name. Exits with 1 unless the destination accepts it.',
  async run(input) {
    const api = createFerryhookClient(parseAccess(input))
    const { id } = await findConnection(api, input.args[0] ?? '')
    return printTestResult(input.output, await api<TestResult>('POST', `/connections/${id}/test`))
  },
}

export const commands: readonly Command[] = [
  connectionsList,
  connectionsAdd,
  connectionsShow,
  connectionsChange,
  connectionsTest,
  connectionsRequests,
  connectionsDryRun,
  connectionsPause,
  connectionsResume,
  connectionsRotate,
  connectionsRemove,
]
