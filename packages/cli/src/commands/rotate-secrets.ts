/** `strongroom sources rotate`, `connections rotate` and `alerts rotate`: another secret, with an overlap. */
import type { Command, CommandInput, CommandOption } from '../command.ts'
import { secondsOf } from '../duration.ts'
import { accessIn, atFerryhook, ferryhookAt } from '../ferryhook/api.ts'
import { findConnection, findSource } from '../ferryhook/find.ts'
import { givenSecret, secretHelp, secretOptions } from '../ferryhook/signing-secret.ts'
import type { Source } from '../ferryhook/views.ts'
import { printable } from '../for-people.ts'
import { readSecret } from '../read-secret.ts'

const overlap: Readonly<Record<string, CommandOption>> = {
  overlap: { value: 'TIME', summary: 'How long the old one is in force too (1d); 0s ends it' },
}

const overlapIn = ({ options }: CommandInput) =>
  secondsOf('overlap', String(options['overlap'] ?? '1d'))

export const sourcesRotate: Command = {
  name: 'sources rotate',
  args: 'SOURCE',
  summary: 'Give a source the new signing secret of its sender',
  options: { ...secretOptions, ...overlap, ...atFerryhook },
  about: `${secretHelp}\nNeeds an API key with the permission admin.`,
  async run(input) {
    const overlapSeconds = overlapIn(input)
    const ask = ferryhookAt(accessIn(input))
    const { id } = await findSource(ask, input.args[0] ?? '')
    const signingSecret = (await givenSecret(input)) ?? (await readSecret('New signing secret: '))
    const body = { signingSecret, overlapSeconds }
    const source = await ask<Source>('POST', `/sources/${id}/rotate-secret`, body)
    input.output.result(`${printable(source.name)} has a new signing secret\n`, source)
  },
}

export const connectionsRotate: Command = {
  name: 'connections rotate',
  args: 'CONNECTION',
  summary: 'Make a new secret that deliveries are signed with, and print it, once',
  options: { ...overlap, ...atFerryhook },
  about: `While both are in force, deliveries have a signature of each.
Needs an API key with the permission admin.`,
  async run(input) {
    const overlapSeconds = overlapIn(input)
    const ask = ferryhookAt(accessIn(input))
    const { id } = await findConnection(ask, input.args[0] ?? '')
    const path = `/connections/${id}/rotate-secret`
    const rotated = await ask<{ signingSecret: string }>('POST', path, { overlapSeconds })
    input.output.result(`${rotated.signingSecret}\n`, { id, ...rotated })
  },
}

export const alertsRotate: Command = {
  name: 'alerts rotate',
  summary: 'Make a new secret that alerts are signed with, and print it, once',
  options: { ...overlap, ...atFerryhook },
  about: 'Needs an API key with the permission admin.',
  async run(input) {
    const overlapSeconds = overlapIn(input)
    const ask = ferryhookAt(accessIn(input))
    const path = '/alerts/rotate-secret'
    const rotated = await ask<{ signingSecret: string }>('POST', path, { overlapSeconds })
    input.output.result(`${rotated.signingSecret}\n`, rotated)
  },
}
