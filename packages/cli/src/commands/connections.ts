/** `strongroom connections …`: the ways of Ferryhook from a source to a destination. */
import { systemClock } from '@strongroom/kit/clock'
import { type Command, UsageError } from '../command.ts'
import { accessIn, atFerryhook, ferryhookAt } from '../ferryhook/api.ts'
import { connectionSettings, limitsIn, settingsIn } from '../ferryhook/connection-settings.ts'
import { connectionFacts, connectionLine } from '../ferryhook/connection-text.ts'
import { destinationHost } from '../ferryhook/destination.ts'
import { allSources, connectionsOf, findConnection, findSource } from '../ferryhook/find.ts'
import { lifecycleCommands } from '../ferryhook/lifecycle.ts'
import type { Connection } from '../ferryhook/views.ts'
import { columns, printable } from '../for-people.ts'

export const connectionsList: Command = {
  name: 'connections list',
  args: '[SOURCE]',
  summary: 'List the connections of a source, or of all sources',
  options: atFerryhook,
  about: 'SOURCE is an id, or a name that only one source has.',
  async run(input) {
    const ask = ferryhookAt(accessIn(input))
    const [given] = input.args
    const sources = given === undefined ? await allSources(ask) : [await findSource(ask, given)]
    const now = systemClock.now()
    const [found, rows]: [Connection[], string[][]] = [[], []]
    for (const { id, name } of sources) {
      const connections = await connectionsOf(ask, id)
      found.push(...connections)
      rows.push(...connections.map((each) => connectionLine(each, printable(name), now)))
    }
    const head = ['ID', 'NAME', 'SOURCE', 'DESTINATION', 'STATUS', 'DELIVERED', 'FAILED']
    const none = 'There are no connections: add one with "strongroom connections add"\n'
    input.output.result(rows.length === 0 ? none : columns([head, ...rows]), found)
  },
}

export const connectionsAdd: Command = {
  name: 'connections add',
  args: 'SOURCE URL',
  summary: 'Deliver what comes to a source to a URL, and print the secret that signs it, once',
  options: {
    name: { value: 'NAME', summary: 'What to call it; unless given, the host of the URL' },
    ...connectionSettings,
    ...atFerryhook,
  },
  about: `SOURCE is an id, or a name that only one source has. The destination checks the signature of what it
gets with the secret; any library for Standard Webhooks does. The server sends to public https
addresses, and to others only by FERRYHOOK_ALLOWED_NETWORKS and FERRYHOOK_ALLOW_HTTP.`,
  async run(input) {
    const [source = '', url] = input.args
    const { options, output } = input
    if (url === undefined) throw new UsageError('Say where to deliver to: give SOURCE and URL')
    const name = typeof options['name'] === 'string' ? options['name'] : destinationHost(url)
    const body = {
      name,
      destinationUrl: url,
      ...(await settingsIn(input)),
      limits: limitsIn(input),
    }
    const ask = ferryhookAt(accessIn(input))
    const { id } = await findSource(ask, source)
    const made = await ask<Connection & { signingSecret: string }>(
      'POST',
      `/sources/${id}/connections`,
      body,
    )
    output.progress('Keep the secret where the destination finds it: it is not shown again')
    const facts = [
      ['connection', made.id],
      ['name', printable(made.name)],
      ['destination', printable(made.destinationUrl)],
      ['secret', made.signingSecret],
    ]
    output.result(columns(facts), made)
  },
}

export const connectionsShow: Command = {
  name: 'connections show',
  args: 'CONNECTION',
  summary: 'Show a connection: where to, what of, how it goes',
  options: atFerryhook,
  about: 'CONNECTION is an id, or a name that only one connection has.',
  async run(input) {
    const connection = await findConnection(ferryhookAt(accessIn(input)), input.args[0] ?? '')
    input.output.result(connectionFacts(connection, systemClock.now()), connection)
  },
}

export const {
  pause: connectionsPause,
  resume: connectionsResume,
  remove: connectionsRemove,
} = lifecycleCommands({
  kind: 'connections',
  args: 'CONNECTION',
  find: findConnection,
  summaries: {
    pause: 'Hold what comes for a connection, up to 30 days',
    resume: 'Let a paused connection go on: what it holds is delivered',
    remove: 'Remove a connection; nothing is delivered to it any more',
  },
})
