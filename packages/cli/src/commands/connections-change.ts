/** `strongroom connections change` and `test`: another address, filter or limit, and whether it works. */
import { systemClock } from '@strongroom/kit/clock'
import type { Command } from '../command.ts'
import { accessIn, atFerryhook, ferryhookAt } from '../ferryhook/api.ts'
import { connectionSettings, limitsIn, settingsIn } from '../ferryhook/connection-settings.ts'
import { connectionFacts } from '../ferryhook/connection-text.ts'
import { destinationHost } from '../ferryhook/destination.ts'
import { findConnection } from '../ferryhook/find.ts'
import { refuseNothing } from '../ferryhook/nothing-to-change.ts'
import { type Tested, tellTested } from '../ferryhook/tested.ts'
import type { Connection } from '../ferryhook/views.ts'

export const connectionsChange: Command = {
  name: 'connections change',
  args: 'CONNECTION',
  summary: 'Change where a connection leads, what it lets pass, and how often it tries',
  options: {
    name: { value: 'NAME', summary: 'What to call it' },
    url: { value: 'URL', summary: 'Where to deliver to from now on' },
    ...connectionSettings,
    ...atFerryhook,
  },
  about: `CONNECTION is an id, or a name that only one connection has. What is not given stays as it is. To
send the headers that it has to another address needs an API key with the permission admin.`,
  async run(input) {
    const { name, url: destinationUrl } = input.options
    if (typeof destinationUrl === 'string') destinationHost(destinationUrl)
    const given = { name, destinationUrl, ...(await settingsIn(input)) }
    refuseNothing('connections change', { ...given, limits: limitsIn(input) })
    const ask = ferryhookAt(accessIn(input))
    const before = await findConnection(ask, input.args[0] ?? '')
    const body = { ...given, limits: limitsIn(input, before.limits) }
    const changed = await ask<Connection>('PATCH', `/connections/${before.id}`, body)
    input.output.result(connectionFacts(changed, systemClock.now()), changed)
  },
}

export const connectionsTest: Command = {
  name: 'connections test',
  args: 'CONNECTION',
  summary: 'Send a destination one signed event of the type ferryhook.test',
  options: atFerryhook,
  about:
    'CONNECTION is an id, or a name that only one connection has. Exit code 1 unless it is taken.',
  async run(input) {
    const ask = ferryhookAt(accessIn(input))
    const { id } = await findConnection(ask, input.args[0] ?? '')
    return tellTested(input.output, await ask<Tested>('POST', `/connections/${id}/test`))
  },
}
