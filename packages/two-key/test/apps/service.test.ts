import type { Db } from '@strongroom/kit/db'
import { everyStore } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { secretBox } from '@strongroom/kit/testing/test-secrets'
import { describe, expect, test } from 'vitest'
import { createAppService } from '../../src/apps/service.ts'
import { createStores } from '../../src/stores.ts'
import { createTokenService } from '../../src/tokens/service.ts'
import { newIds } from '../support/open-store.ts'
import { openDb } from '../support/test-checkers.ts'
import { SECRET } from '../support/machine.ts'

const upstream = { url: 'https://bot.example/slack', kind: 'app' } as const

describe.each(everyStore())('apps on $name', (store) => {
  const opened = openDb(store)
  const clock = testClock()
  const appsOn = (db: Db) =>
    createAppService({ db, clock, box: secretBox, checkUrl: (url) => new URL(url) })
  const newApp = (name: string) => ({ name, signingSecret: SECRET, upstream, policy: {} })

  test('lose no secret when several are rotated at the same time', async () => {
    const apps = appsOn(opened.db)
    await apps.add(newApp('rotated'))
    const secrets = ['secret-one', 'secret-two', 'secret-three']
    await Promise.all(secrets.map(async (secret) => apps.rotate('rotated', secret, 60)))
    const item = await apps.get('rotated')
    if (!item) throw new Error('The app is there')
    const kept = (await apps.signingSecrets(item)).map(({ secret }) => secret)
    expect(kept.toSorted()).toEqual([SECRET, ...secrets].toSorted())
    expect(item.revision).toBe(4)
  })

  test('that other writers keep changing get a conflict', async () => {
    await appsOn(opened.db).add(newApp('busy'))
    const busy: Db = {
      ...opened.db,
      getItem: async (input) => {
        const found = await opened.db.getItem(input)
        await appsOn(opened.db).change('busy', {})
        return found
      },
      putItem: async (input) => opened.db.putItem(input),
    }
    await expect(appsOn(busy).change('busy', { appId: 'A1' })).rejects.toMatchObject({
      code: 'two-key.changed_meanwhile',
    })
    expect((await appsOn(opened.db).get('busy'))?.appId).toBeUndefined()
  })

  test('have tokens that are encrypted for one team of one app', async () => {
    const { team } = newIds()
    const other = newIds().team
    const vaultOf = (app: string) => {
      const { tokens } = createStores({ db: opened.db, clock })
      return { tokens, vault: createTokenService({ app, tokens, box: secretBox, clock }) }
    }
    const { tokens, vault } = vaultOf('first')
    await vault.put(team, 'xoxb-of-a-team')
    expect(await vault.tokenOf(team)).toBe('xoxb-of-a-team')
    const item = await tokens.get(team)
    expect(Buffer.from(item?.bot_token ?? []).toString('latin1')).not.toContain('xoxb')
    await tokens.put(other, item?.bot_token ?? new Uint8Array())
    await expect(vault.tokenOf(other)).rejects.toThrow()
    await expect(vaultOf('second').vault.tokenOf(team)).rejects.toThrow()
  })

  test('use a token for up to a minute after another machine removed it, and see a new one within five seconds', async () => {
    const { team } = newIds()
    const machine = () => {
      const { tokens } = createStores({ db: opened.db, clock })
      return createTokenService({ app: 'first', tokens, box: secretBox, clock })
    }
    const [here, there] = [machine(), machine()]
    expect(await there.tokenOf(team)).toBeUndefined()
    await here.put(team, 'xoxb-of-a-team')
    clock.advance({ seconds: 5 })
    expect(await there.tokenOf(team)).toBe('xoxb-of-a-team')
    await here.delete(team)
    expect(await here.tokenOf(team)).toBeUndefined()
    clock.advance({ seconds: 60 })
    expect(await there.tokenOf(team)).toBeUndefined()
  })
})
