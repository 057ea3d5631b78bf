/** `strongroom secrets …`: lists and rotates server secrets, never shows their values. */
import { systemClock } from '@strongroom/platform/clock'
import { listSecretVersions, type SecretVersion } from '@strongroom/kit/secret-versions'
import { createServerSecrets } from '@strongroom/kit/server-secrets'
import { serverTable } from '@strongroom/kit/server-table'
import { requireTables } from '@strongroom/server/tables'
import { refuseServer } from '../api-client.ts'
import type { Command } from '../command.ts'
import { parseDuration, pluralize } from '../output.ts'
import { withKms, withStore } from '../store.ts'

const DEFAULT_OVERLAP = '30d'

const secretsList: Command = {
  name: 'secrets list',
  kind: 'either',
  summary: 'List server secrets: names, versions and ages',
  async run(input) {
    refuseServer(input)
    await withStore(input, async (store) => {
      await requireTables(store, [serverTable])
      const found = await listSecretVersions(store.db)
      input.output.result(found.map(line).join('') || 'There are no secrets yet\n', found)
    })
  },
}

const secretsRotate: Command = {
  name: 'secrets rotate',
  kind: 'either',
  args: 'NAME',
  summary: 'Rotate a server secret',
  options: {
    overlap: {
      value: 'TIME',
      summary: `How long older versions stay valid (${DEFAULT_OVERLAP}); 0s ends them immediately`,
    },
  },
  about: `Running servers notice within a minute, and use the new version after two minutes, when all of them
know it. Older versions stay valid for the overlap after that. With --overlap 0s the new version is
used immediately, and everything made with older ones becomes invalid.`,
  async run(input) {
    const overlapSeconds = parseDuration(
      'overlap',
      String(input.options['overlap'] ?? DEFAULT_OVERLAP),
    )
    refuseServer(input)
    await withKms(input, async ({ db }, { key }) => {
      const name = input.args[0] ?? ''
      const secrets = createServerSecrets({ db, key, clock: systemClock })
      const made = await secrets.rotate(name, { overlapSeconds })
      const until = made.activeFrom + overlapSeconds
      input.output.result(
        `${name} has version ${made.version}, in use from ${moment(made.activeFrom)}; older ones are accepted until ${moment(until)}\n`,
        { ...made, olderAcceptedUntil: until },
      )
    })
  },
}

function line({ name, version, createdAt, acceptedUntil }: SecretVersion): string {
  const days = Math.floor((systemClock.now() / 1000 - createdAt) / 86_400)
  const end = acceptedUntil === undefined ? '' : `, accepted until ${moment(acceptedUntil)}`
  return `${name}  version ${version}, created ${moment(createdAt)} (${pluralize(days, 'day')} ago)${end}\n`
}

function moment(epochSeconds: number): string {
  return `${new Date(epochSeconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

export const commands: readonly Command[] = [secretsList, secretsRotate]
