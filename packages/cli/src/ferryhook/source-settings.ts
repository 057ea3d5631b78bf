/** What may be set of a source, when it is made and later. */
import { providers } from '@strongroom/ferryhook/items/source'
import type { CommandInput, CommandOption } from '../command.ts'
import { jsonIn } from './given-file.ts'
import { oneOf } from './one-of.ts'
import { secretOptions } from './signing-secret.ts'
import type { DedupRule } from './views.ts'

export const sourceSettings = {
  provider: { value: 'PROVIDER', summary: 'Who sends, such as github; see below' },
  ...secretOptions,
  unsigned: { summary: 'There is no signing secret: whatever comes is taken' },
  algorithm: { value: 'NAME', summary: 'How a custom sender signs, such as hmac-sha256' },
  'signing-options': {
    value: 'FILE',
    summary: 'JSON with the options of the algorithm, such as {"header": "x-signature"}',
  },
  dedup: {
    value: 'WHERE',
    summary: 'Where the id of an event is: a header, or a path such as $.id; or none, standard',
  },
} as const satisfies Record<string, CommandOption>

export const providersHelp = `Providers: ${providers.slice(0, 10).join(', ')},
${providers.slice(10).join(', ')}.`

/** As the API has it: null is taken back, and what was not given is undefined. */
export async function settingsIn({ options }: Pick<CommandInput, 'options'>) {
  const { provider, algorithm, 'signing-options': file, dedup } = options
  return {
    provider: typeof provider === 'string' ? oneOf('provider', providers, provider) : undefined,
    signingAlgorithm: algorithm,
    signingOptions: await jsonIn('signing-options', file),
    dedup: typeof dedup === 'string' ? dedupIn(dedup) : undefined,
  }
}

function dedupIn(given: string): DedupRule | null {
  if (given === 'standard') return null
  if (given === 'none') return { by: 'none' }
  return given.startsWith('$') ? { by: 'path', path: given } : { by: 'header', name: given }
}
