/** `strongroom keys …`: branch keys, on the configured store or behind a server. */
import type { BranchKeySummary } from '@strongroom/key-store/branch-keys'
import { keyStoreError } from '@strongroom/key-store/errors'
import { type Command, UsageError } from '../command.ts'
import { printable } from '../for-people.ts'
import { onServer } from '../operator-api.ts'
import { withKeys } from './keys-access.ts'
import { descriptionText, listText, madeText } from './keys-text.ts'

export const keysCreate: Command = {
  name: 'keys create',
  summary: 'Create a branch key and print its id',
  options: {
    id: { value: 'ID', summary: 'An id of your own; it needs at least one --context' },
    context: {
      value: 'NAME=VALUE',
      multiple: true,
      summary: 'Bound to the key for ever; may be given more than once',
    },
    ...onServer,
  },
  about:
    'Without --id the key gets a UUID. Encryption context stands in the audit log of KMS in clear: put\nno secrets into it.',
  async run(input) {
    const { id } = input.options
    const encryptionContext = contextOf(input.lists['context'] ?? [])
    await withKeys(input, async (keys) => {
      const made = await keys.create({ ...(typeof id === 'string' && { id }), encryptionContext })
      input.output.result(`${printable(made.id)}\n`, made)
    })
  },
}

export const keysList: Command = {
  name: 'keys list',
  summary: 'List the branch keys with the ages of their active versions',
  options: onServer,
  run: (input) =>
    withKeys(input, async (keys) => {
      const items: BranchKeySummary[] = []
      const unreadable: { id: string; problem: string }[] = []
      for await (const page of keys.pages()) {
        items.push(...page.items)
        unreadable.push(...page.unreadable)
      }
      input.output.result(listText(items, unreadable), { items, unreadable })
    }),
}

export const keysShow: Command = {
  name: 'keys show',
  args: 'ID',
  summary: 'Show a branch key: its versions, their ages, its context',
  options: onServer,
  run: (input) =>
    withKeys(input, async (keys) => {
      const found = await keys.describe(input.args[0] ?? '')
      input.output.result(descriptionText(found), found)
    }),
}

export const keysBeacon: Command = {
  name: 'keys beacon',
  args: 'ID',
  summary: 'Show that the beacon key of a branch key is there and when it was made',
  options: {
    reveal: { summary: 'Print the key itself, in base64; never over HTTP' },
    ...onServer,
  },
  run: (input) =>
    withKeys(input, async (keys) => {
      const id = input.args[0] ?? ''
      if (input.options['reveal'] === true) {
        const beaconKey = await keys.revealBeacon(id)
        return input.output.result(`${beaconKey}\n`, { id, beaconKey })
      }
      const { beacon } = await keys.describe(id)
      if (!beacon) throw keyStoreError('not_found')
      input.output.result(`${madeText(beacon)}\n`, { id, ...beacon })
    }),
}

function contextOf(pairs: readonly string[]): Record<string, string> {
  const entries = pairs.map((pair): [string, string] => {
    const [, name, value] = /^([^=]+)=(.*)$/su.exec(pair) ?? []
    if (name === undefined || value === undefined)
      throw new UsageError('--context takes NAME=VALUE, such as --context tenant=42')
    return [name, value]
  })
  const twice = entries.find(([name], at) => entries.findIndex(([each]) => each === name) !== at)
  if (twice) throw new UsageError('--context has the same name twice: give each name once')
  return Object.fromEntries(entries)
}
