import { everyStore } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { newIds, openTwoKeyStore, rawItem } from '../support/open-store.ts'

const sealed = (byte: number) => new Uint8Array(200).fill(byte)

describe.each(everyStore())('workspace tokens on $name', (store) => {
  const { clock, opened, now } = openTwoKeyStore(store)
  const raw = (team_id: string) => rawItem(opened.db, 'slack-workspace-tokens', { team_id })

  test('are stored per team, encrypted, with the time of the installation', async () => {
    const { team } = newIds()
    await opened.tokens.put(team, sealed(1))
    const item = { team_id: team, bot_token: sealed(1), installation_timestamp: now() }
    expect(await raw(team)).toEqual(item)
    expect(await opened.tokens.get(team)).toEqual(item)
  })

  test('of another team are not found', async () => {
    const { team } = newIds()
    await opened.tokens.put(team, sealed(1))
    expect(await opened.tokens.get(newIds().team)).toBeUndefined()
  })

  test('are replaced by a new installation, and do not expire', async () => {
    const { team } = newIds()
    await opened.tokens.put(team, sealed(1))
    clock.advance({ days: 400 })
    expect(await opened.tokens.get(team)).toMatchObject({ bot_token: sealed(1) })
    await opened.tokens.put(team, sealed(2))
    expect(await opened.tokens.get(team)).toEqual({
      team_id: team,
      bot_token: sealed(2),
      installation_timestamp: now(),
    })
  })

  test('are deleted when the app is uninstalled, and deleting twice succeeds', async () => {
    const { team } = newIds()
    await opened.tokens.put(team, sealed(1))
    await opened.tokens.delete(team)
    await opened.tokens.delete(team)
    expect(await opened.tokens.get(team)).toBeUndefined()
    expect(await raw(team)).toBeUndefined()
  })

  test('are deleted only if they have not been replaced', async () => {
    const { team } = newIds()
    await opened.tokens.put(team, sealed(2))
    await opened.tokens.deleteIfUnchanged(team, { bot_token: sealed(1) })
    expect(await opened.tokens.get(team)).toMatchObject({ bot_token: sealed(2) })
    await opened.tokens.deleteIfUnchanged(team, { bot_token: sealed(2) })
    await opened.tokens.deleteIfUnchanged(team, { bot_token: sealed(2) })
    expect(await raw(team)).toBeUndefined()
  })

  test('of other apps are separated by a prefix', async () => {
    const { team } = newIds()
    await opened.tokens.put(team, sealed(1))
    await opened.otherApp.tokens.put(team, sealed(2))
    expect(await raw(`deploy-bot:${team}`)).toMatchObject({ bot_token: sealed(2) })
    await opened.otherApp.tokens.delete(team)
    expect(await opened.tokens.get(team)).toMatchObject({ bot_token: sealed(1) })
  })
})
