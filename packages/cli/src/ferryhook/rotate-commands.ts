/** `strongroom sources rotate`, `connections rotate` and `alerts rotate`: replace a secret, with an overlap. */
import type { Command, CommandInput, CommandOption } from '../command.ts'
import { parseDuration, escapeControls } from '../output.ts'
import { parseAccess, ferryhookOptions, createFerryhookClient } from './api.ts'
import { findConnection, findSource } from './find.ts'
import { readConfiguredSecret, secretHelp, secretOptions } from './signing-secret.ts'
import type { Source } from './views.ts'
import { readSecret } from '../input.ts'

const overlap: Readonly<Record<string, CommandOption>> = {
  overlap: {
    value: 'TIME',
    summary: 'How long the old one stays valid (1d); 0s ends it immediately',
  },
}

const parseOverlap = ({ options }: CommandInput) =>
  parseDuration('overlap', String(options['overlap'] ?? '1d'))

export const sourcesRotate: Command = {
  name: 'sources rotate',
  kind: 'client',
  args: 'SOURCE',
  summary: "Replace a source's signing secret",
  options: { ...secretOptions, ...overlap, ...ferryhookOptions },
  about: `${secretHelp}\nRequires an API key with the permission admin.`,
  async run(input) {
    const overlapSeconds = parseOverlap(input)
    const api = createFerryhookClient(parseAccess(input))
    const { id } = await findSource(api, input.args[0] ?? '')
    const signingSecret =
      (await readConfiguredSecret(input)) ?? (await readSecret('New signing secret: '))
    const body = { signingSecret, overlapSeconds }
    const source = await api<Source>('POST', `/sources/${id}/rotate-secret`, body)
    input.output.result(`${escapeControls(source.name)} has a new signing secret\n`, source)
  },
}

export const connectionsRotate: Command = {
  name: 'connections rotate',
  kind: 'client',
  args: 'CONNECTION',
  summary: "Replace a connection's signing secret and print the new one (shown once)",
  options: { ...overlap, ...ferryhookOptions },
  about: `While both secrets are valid, deliveries carry a signature for each.
Requires an API key with the permission admin.`,
  async run(input) {
    const overlapSeconds = parseOverlap(input)
    const api = createFerryhookClient(parseAccess(input))
    const { id } = await findConnection(api, input.args[0] ?? '')
    const path = `/connections/${id}/rotate-secret`
    const rotated = await api<{ signingSecret: string }>('POST', path, { overlapSeconds })
    input.output.result(`${rotated.signingSecret}\n`, { id, ...rotated })
  },
}

export const alertsRotate: Command = {
  name: 'alerts rotate',
  kind: 'client',
  summary: 'Replace the signing secret of alerts and print the new one (shown once)',
  options: { ...overlap, ...ferryhookOptions },
  about: 'Requires an API key with the permission admin.',
  async run(input) {
    const overlapSeconds = parseOverlap(input)
    const api = createFerryhookClient(parseAccess(input))
    const path = '/alerts/rotate-secret'
    const rotated = await api<{ signingSecret: string }>('POST', path, { overlapSeconds })
    input.output.result(`${rotated.signingSecret}\n`, rotated)
  },
}
