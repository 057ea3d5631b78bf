/** `strongroom keys …`: branch keys, on the configured store or through a server. */
import type { BranchKeySummary } from '@strongroom/key-store/branch-keys/service'
import { keyStoreError } from '@strongroom/key-store/errors'
import { type Command, usageError } from '../command.ts'
import { escapeControls } from '../output.ts'
import { withKeys } from '../key-store/access.ts'
import { descriptionText, listText, createdText } from '../key-store/text.ts'
import { keysRotate } from '../key-store/rotate-command.ts'

const keysCreate: Command = {
  name: 'keys create',
  kind: 'either',
  creates: true,
  summary: 'Create a branch key and print its id',
  options: {
    id: { value: 'ID', summary: 'Your own id; requires at least one --context' },
    context: {
      value: 'NAME=VALUE',
      multiple: true,
      summary: 'Bound to the key permanently; may be repeated',
    },
  },
  about:
    'Without --id the key gets a UUID. The audit log of KMS contains the encryption context in plain text:\nput no secrets into it.',
  async run(input) {
    const { id } = input.options
    const encryptionContext = parseContext(input.lists['context'] ?? [])
    await withKeys(input, async (keys) => {
      const made = await keys.create({ ...(typeof id === 'string' && { id }), encryptionContext })
      input.output.result(`${escapeControls(made.id)}\n`, made)
    })
  },
}

const keysList: Command = {
  name: 'keys list',
  kind: 'either',
  summary: 'List branch keys with the ages of their active versions',
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

const keysShow: Command = {
  name: 'keys show',
  kind: 'either',
  args: 'ID',
  summary: 'Show a branch key: versions, ages, encryption context',
  run: (input) =>
    withKeys(input, async (keys) => {
      const found = await keys.describe(input.args[0] ?? '')
      input.output.result(descriptionText(found), found)
    }),
}

const keysBeacon: Command = {
  name: 'keys beacon',
  kind: 'either',
  args: 'ID',
  summary: 'Show whether a branch key has a beacon key, and its age',
  options: {
    reveal: { summary: 'Print the key itself, in base64; never over HTTP' },
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
      input.output.result(`${createdText(beacon)}\n`, { id, ...beacon })
    }),
}

function parseContext(pairs: readonly string[]): Record<string, string> {
  const entries = pairs.map((pair): [string, string] => {
    const [, name, value] = /^([^=]+)=(.*)$/su.exec(pair) ?? []
    if (name === undefined || value === undefined)
      throw usageError('--context takes NAME=VALUE, such as --context tenant=42')
    return [name, value]
  })
  const twice = entries.find(([name], at) => entries.findIndex(([each]) => each === name) !== at)
  if (twice) throw usageError('--context repeats a name: use each name once')
  return Object.fromEntries(entries)
}

export const commands: readonly Command[] = [keysCreate, keysList, keysShow, keysRotate, keysBeacon]
