import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Db } from '../../src/db.ts'
import { createSecondFactorItems } from '../../src/second-factor/item.ts'
import {
  createSecondFactors,
  type SecondFactors,
  type SecondFactorStore,
} from '../../src/second-factor/second-factors.ts'
import { totpCode, totpStep } from '../../src/second-factor/totp.ts'
import type { SecondFactorChange, TotpBox } from '../../src/second-factor/verification.ts'
import { serverTable } from '../../src/server-table.ts'
import { createTables } from '../../src/tables.ts'
import { testStores } from '../../src/testing/stores.ts'
import { testAuthenticator } from '../../src/testing/test-authenticator.ts'
import { testClock } from '../../src/testing/test-clock.ts'
import { secretBox } from '../../src/testing/test-secrets.ts'
import { transactParts } from '../../src/transact.ts'

const origin = 'https://strongroom.example'
const context = 'session-1'

const placeOf = (owner: string) => ({
  service: 'test',
  tenant: owner,
  entity: owner,
  attribute: 'totp',
})
const box: TotpBox = {
  seal: (secret, owner) => secretBox.seal(secret, placeOf(owner)),
  open: (sealed, owner) => secretBox.open(sealed, placeOf(owner)),
}

const error = (code: string) => expect.objectContaining({ code: `second-factor.${code}` })

describe.each(testStores())('second factors on $name', (store) => {
  let db: Db
  let close: () => Promise<void>
  let factors: SecondFactors
  let owners = 0
  const clock = testClock()
  const changes: SecondFactorChange[] = []

  const keyOf = (owner: string) => ({ PK: `PERSON#${owner}`, SK: 'SECOND_FACTOR' })
  const createFactors = (publicUrl = origin) => {
    const items = createSecondFactorItems(db, serverTable, keyOf)
    const factorStore: SecondFactorStore = {
      load: items.load,
      async replace(owner, before, after, change) {
        const part = items.replacePart(owner, before, after)
        const { kind } = await transactParts(db, { factors: part })
        if (kind === 'done') changes.push(change)
        return kind === 'done'
      },
    }
    return createSecondFactors({ store: factorStore, clock, box, publicUrl, issuer: 'Test' })
  }

  beforeAll(async () => {
    ;({ db, close } = await store.open())
    await createTables(db, [serverTable])
    factors = createFactors()
  })
  afterAll(() => close())

  const newOwner = () => `person-${++owners}`
  const storedItem = async (owner: string) =>
    (await db.getItem({ TableName: serverTable.name, Key: keyOf(owner) })).Item

  const codeOf = (secret: string, steps = 0) =>
    totpCode(fromBase32(secret), totpStep(clock.now()) + steps)
  const withTotp = async (owner = newOwner()) => {
    const { secret } = await factors.startTotp(owner, { context, account: owner })
    const { recoveryCodes = [] } = await factors.confirmTotp(owner, {
      context,
      code: codeOf(secret),
    })
    clock.advance({ seconds: 60 })
    return { owner, secret, recoveryCodes }
  }
  const withPasskey = async (owner = newOwner(), passkey = testAuthenticator({ origin })) => {
    const options = await factors.startPasskey(owner, { context, account: owner })
    const response = passkey.create(options)
    const confirmed = await factors.confirmPasskey(owner, { context, name: 'Laptop', response })
    return { owner, passkey, ...confirmed }
  }
  const totp = (owner: string, code: string) =>
    factors.verify(owner, { context, proof: { method: 'totp', code } })
  const recovery = (owner: string, code: string) =>
    factors.verify(owner, { context, proof: { method: 'recovery_code', code } })
  const passkeyOptions = async (owner: string, of = context) => {
    const options = await factors.startVerification(owner, { context: of })
    if (!options) throw new Error('There is no passkey')
    return options
  }
  const verifyPasskey = (
    owner: string,
    response: ReturnType<ReturnType<typeof testAuthenticator>['get']>,
    of = context,
  ) => factors.verify(owner, { context: of, proof: { method: 'passkey', response } })

  const outcomes = async (attempts: Promise<unknown>[]) => {
    const settled = await Promise.allSettled(attempts)
    return settled.map((each) => (each.status === 'fulfilled' ? 'accepted' : each.reason.code))
  }
  const countOf = (all: string[], wanted: string) => all.filter((each) => each === wanted).length

  describe('an authenticator app', () => {
    test('counts only after a code of it was entered', async () => {
      const owner = newOwner()
      const { secret, uri } = await factors.startTotp(owner, { context, account: 'ada' })
      expect(uri).toContain(`secret=${secret}`)
      expect(await factors.summary(owner)).toMatchObject({ isEnrolled: false, totp: undefined })
      const wrong = factors.confirmTotp(owner, { context, code: '000000' })
      await expect(wrong).rejects.toThrow(error('wrong_code'))
      const { recoveryCodes } = await factors.confirmTotp(owner, { context, code: codeOf(secret) })
      expect(recoveryCodes).toHaveLength(10)
      expect(await factors.summary(owner)).toEqual({
        isEnrolled: true,
        totp: { createdAt: Math.floor(clock.now() / 1000) },
        passkeys: [],
        recoveryCodesLeft: 10,
        canUsePasskeys: true,
      })
    })

    test('is stored encrypted, with hashes of the recovery codes', async () => {
      const { owner, secret, recoveryCodes } = await withTotp()
      const item = await storedItem(owner)
      expect(item).toEqual({
        ...keyOf(owner),
        revision: expect.stringMatching(/^[\w-]{16}$/),
        totp: {
          sealed: expect.any(Uint8Array),
          createdAt: expect.any(Number),
          lastStep: expect.any(Number),
        },
        recoveryCodes: Array.from({ length: 10 }, () => expect.stringMatching(/^[0-9a-f]{64}$/)),
      })
      const { sealed } = (item ?? {})['totp'] as { sealed: Uint8Array }
      const raw = Buffer.from(fromBase32(secret))
      expect(Buffer.from(sealed).includes(raw)).toBe(false)
      expect(JSON.stringify(item)).not.toContain(recoveryCodes[0])
      await expect(box.open(sealed, 'somebody-else')).rejects.toThrow()
      expect(Buffer.from(await box.open(sealed, owner))).toEqual(raw)
    })

    test('cannot be confirmed in another session or after ten minutes', async () => {
      const owner = newOwner()
      const { secret } = await factors.startTotp(owner, { context, account: 'ada' })
      const elsewhere = factors.confirmTotp(owner, { context: 'session-2', code: codeOf(secret) })
      await expect(elsewhere).rejects.toThrow(error('setup_expired'))
      clock.advance({ minutes: 10 })
      const late = factors.confirmTotp(owner, { context, code: codeOf(secret) })
      await expect(late).rejects.toThrow(error('setup_expired'))
    })

    test('verifies with a code that works once, and not the one that confirmed it', async () => {
      const owner = newOwner()
      const { secret } = await factors.startTotp(owner, { context, account: 'ada' })
      const first = codeOf(secret)
      await factors.confirmTotp(owner, { context, code: first })
      await expect(totp(owner, first)).rejects.toThrow(error('wrong_code'))
      clock.advance({ seconds: 30 })
      await totp(owner, codeOf(secret))
      await expect(totp(owner, codeOf(secret))).rejects.toThrow(error('wrong_code'))
      expect(changes.at(-2)).toEqual({ kind: 'verified', method: 'totp' })
      expect(changes.at(-1)).toEqual({ kind: 'failed', isLocked: false })
    })

    test('accepts one of twenty concurrent requests with the same code', async () => {
      const { owner, secret } = await withTotp()
      const code = codeOf(secret)
      const all = await outcomes(Array.from({ length: 20 }, () => totp(owner, code)))
      expect(countOf(all, 'accepted')).toBe(1)
    })

    test('refuses codes after ten wrong ones, also concurrently, for an hour', async () => {
      const { owner, secret } = await withTotp()
      const all = await outcomes(Array.from({ length: 40 }, () => totp(owner, '000000')))
      expect(countOf(all, 'second-factor.wrong_code')).toBe(9)
      expect(countOf(all, 'second-factor.locked')).toBe(31)
      expect(await storedItem(owner)).toMatchObject({ failures: { count: 10 } })
      clock.advance({ minutes: 59, seconds: 59 })
      const locked = await totp(owner, codeOf(secret)).catch((thrown: unknown) => thrown)
      expect(locked).toMatchObject({
        code: 'second-factor.locked',
        headers: { 'retry-after': '1' },
      })
      clock.advance({ seconds: 1 })
      await totp(owner, codeOf(secret))
      expect(await storedItem(owner)).not.toHaveProperty('failures')
    })

    test('can be replaced without new recovery codes, which ends the old app', async () => {
      const { owner, secret: old } = await withTotp()
      const { secret } = await factors.startTotp(owner, { context, account: owner })
      const confirmed = await factors.confirmTotp(owner, { context, code: codeOf(secret) })
      expect(confirmed).toEqual({ recoveryCodes: undefined })
      clock.advance({ seconds: 60 })
      await expect(totp(owner, codeOf(old))).rejects.toThrow(error('wrong_code'))
      await totp(owner, codeOf(secret))
    })

    test('takes everything with it if it is the only factor', async () => {
      const { owner } = await withTotp()
      await factors.removeTotp(owner)
      expect(await storedItem(owner)).toBeUndefined()
      await expect(factors.removeTotp(owner)).rejects.toThrow(error('totp_not_found'))
      await expect(totp(owner, '000000')).rejects.toThrow(error('not_enrolled'))
    })
  })

  describe('recovery codes', () => {
    test('work once each', async () => {
      const { owner, recoveryCodes } = await withTotp()
      const [code = '', other = ''] = recoveryCodes
      await recovery(owner, code.toLowerCase())
      await expect(recovery(owner, code)).rejects.toThrow(error('wrong_code'))
      await recovery(owner, other)
      expect(await factors.summary(owner)).toMatchObject({ recoveryCodesLeft: 8 })
    })

    test('are accepted for one of twenty concurrent requests', async () => {
      const { owner, recoveryCodes } = await withTotp()
      const [code = ''] = recoveryCodes
      const all = await outcomes(Array.from({ length: 20 }, () => recovery(owner, code)))
      expect(countOf(all, 'accepted')).toBe(1)
      expect(await factors.summary(owner)).toMatchObject({ recoveryCodesLeft: 9 })
    })

    test('work while codes of the app are locked', async () => {
      const { owner, recoveryCodes, secret } = await withTotp()
      for (let wrong = 0; wrong < 10; wrong++) await totp(owner, '000000').catch(() => {})
      await expect(totp(owner, codeOf(secret))).rejects.toThrow(error('locked'))
      await recovery(owner, recoveryCodes[0] ?? '')
      await totp(owner, codeOf(secret))
    })

    test('of before become invalid when they are replaced', async () => {
      const { owner, recoveryCodes } = await withTotp()
      const replaced = await factors.replaceRecoveryCodes(owner)
      expect(replaced).toHaveLength(10)
      await expect(recovery(owner, recoveryCodes[0] ?? '')).rejects.toThrow(error('wrong_code'))
      await recovery(owner, replaced[0] ?? '')
    })

    test('exist only beside a factor', async () => {
      const none = factors.replaceRecoveryCodes(newOwner())
      await expect(none).rejects.toThrow(error('not_enrolled'))
    })

    test('of another person are wrong', async () => {
      const [{ owner }, { recoveryCodes }] = [await withTotp(), await withTotp()]
      await expect(recovery(owner, recoveryCodes[0] ?? '')).rejects.toThrow(error('wrong_code'))
    })
  })

  describe('a passkey', () => {
    test('is registered and verifies afterwards', async () => {
      const { owner, passkey, id, recoveryCodes } = await withPasskey()
      expect(recoveryCodes).toHaveLength(10)
      expect(await storedItem(owner)).toMatchObject({
        challenges: [],
        passkeys: [
          {
            id: passkey.id,
            name: 'Laptop',
            publicKey: expect.any(Uint8Array),
            counter: 1,
            transports: ['internal'],
            isSynced: false,
            createdAt: Math.floor(clock.now() / 1000),
          },
        ],
      })
      await verifyPasskey(owner, passkey.get(await passkeyOptions(owner)))
      const { passkeys } = await factors.summary(owner)
      const lastUsedAt = Math.floor(clock.now() / 1000)
      expect(passkeys).toEqual([expect.objectContaining({ id, lastUsedAt })])
    })

    test('requires that its user was verified', async () => {
      const { owner, passkey } = await withPasskey()
      const options = await passkeyOptions(owner)
      expect(options.userVerification).toBe('required')
      passkey.verifiesUser = false
      await expect(verifyPasskey(owner, passkey.get(options))).rejects.toThrow(
        error('passkey_rejected'),
      )
    })

    test('is refused for a response of another origin, challenge or passkey', async () => {
      const { owner, passkey } = await withPasskey()
      const foreign = testAuthenticator({ origin: 'https://strongroom.example.evil.test' })
      const evil = await factors.startPasskey(owner, { context, account: owner })
      const registered = factors.confirmPasskey(owner, {
        context,
        name: 'Evil',
        response: foreign.create(evil),
      })
      await expect(registered).rejects.toThrow(error('passkey_rejected'))
      const stranger = testAuthenticator({ origin })
      const asStranger = stranger.get(await passkeyOptions(owner))
      await expect(verifyPasskey(owner, asStranger)).rejects.toThrow(error('passkey_rejected'))
      const forged = {
        ...stranger.get(await passkeyOptions(owner)),
        id: passkey.id,
        rawId: passkey.id,
      }
      await expect(verifyPasskey(owner, forged)).rejects.toThrow(error('passkey_rejected'))
      const old = passkey.get(await passkeyOptions(owner))
      await passkeyOptions(owner)
      await expect(verifyPasskey(owner, old)).rejects.toThrow(error('passkey_rejected'))
    })

    test('is refused if its counter did not increase, because it may be a copy', async () => {
      const { owner, passkey } = await withPasskey()
      await verifyPasskey(owner, passkey.get(await passkeyOptions(owner)))
      passkey.counter -= 1
      const copied = passkey.get(await passkeyOptions(owner))
      await expect(verifyPasskey(owner, copied)).rejects.toThrow(error('passkey_rejected'))
      await verifyPasskey(owner, passkey.get(await passkeyOptions(owner)))
    })

    test('without a counter works again and again', async () => {
      const synced = testAuthenticator({ origin })
      synced.counter = 0
      const { owner } = await withPasskey(newOwner(), synced)
      for (let use = 0; use < 3; use++) {
        const response = synced.get(await passkeyOptions(owner))
        await expect(verifyPasskey(owner, response)).resolves.toBeUndefined()
      }
    })

    test('signs a challenge that works once, also for concurrent requests', async () => {
      const synced = testAuthenticator({ origin })
      synced.counter = 0
      const { owner } = await withPasskey(newOwner(), synced)
      const response = synced.get(await passkeyOptions(owner))
      const all = await outcomes(Array.from({ length: 20 }, () => verifyPasskey(owner, response)))
      expect(countOf(all, 'accepted')).toBe(1)
      expect(countOf(all, 'second-factor.challenge_expired')).toBe(19)
    })

    test('uses up its challenge with a rejected response too', async () => {
      const { owner, passkey } = await withPasskey()
      const options = await passkeyOptions(owner)
      const stranger = testAuthenticator({ origin })
      await expect(verifyPasskey(owner, stranger.get(options))).rejects.toThrow(
        error('passkey_rejected'),
      )
      await expect(verifyPasskey(owner, passkey.get(options))).rejects.toThrow(
        error('challenge_expired'),
      )
    })

    test('signs a challenge for five minutes and for one sign-in', async () => {
      const { owner, passkey } = await withPasskey()
      const elsewhere = passkey.get(await passkeyOptions(owner, 'sign-in-1'))
      await expect(verifyPasskey(owner, elsewhere, 'sign-in-2')).rejects.toThrow(
        error('challenge_expired'),
      )
      const late = passkey.get(await passkeyOptions(owner))
      clock.advance({ minutes: 5 })
      await expect(verifyPasskey(owner, late)).rejects.toThrow(error('challenge_expired'))
    })

    test('is registered once, by one of many concurrent requests', async () => {
      const owner = newOwner()
      const passkey = testAuthenticator({ origin })
      const response = passkey.create(
        await factors.startPasskey(owner, { context, account: owner }),
      )
      const confirm = () => factors.confirmPasskey(owner, { context, name: 'Key', response })
      const all = await outcomes(Array.from({ length: 10 }, confirm))
      expect(countOf(all, 'accepted')).toBe(1)
      const again = await factors.startPasskey(owner, { context, account: owner })
      expect(again.excludeCredentials).toEqual([expect.objectContaining({ id: passkey.id })])
      const twice = factors.confirmPasskey(owner, {
        context,
        name: 'Key',
        response: passkey.create(again),
      })
      await expect(twice).rejects.toThrow(error('passkey_exists'))
    })

    test('can be renamed and removed; the last one takes everything with it', async () => {
      const { owner, id } = await withPasskey()
      const second = await withPasskey(owner)
      expect(second.recoveryCodes).toBeUndefined()
      await factors.renamePasskey(owner, id, 'Phone')
      const { passkeys } = await factors.summary(owner)
      expect(passkeys.map(({ name }) => name)).toEqual(['Phone', 'Laptop'])
      await factors.removePasskey(owner, id)
      await expect(factors.removePasskey(owner, id)).rejects.toThrow(error('passkey_not_found'))
      await expect(factors.renamePasskey(owner, id, 'x')).rejects.toThrow(
        error('passkey_not_found'),
      )
      await factors.removePasskey(owner, second.id)
      expect(await storedItem(owner)).toBeUndefined()
    })

    test('is one of at most ten', async () => {
      const owner = newOwner()
      for (let count = 0; count < 10; count++) await withPasskey(owner)
      await expect(withPasskey(owner)).rejects.toThrow(error('too_many_passkeys'))
    })

    test.each([
      'http://127.0.0.1:4280',
      'https://192.0.2.1',
      'https://[2001:db8::1]',
      'http://strongroom.example',
    ])('is unavailable at %s', async (publicUrl) => {
      const elsewhere = createFactors(publicUrl)
      const owner = newOwner()
      const start = elsewhere.startPasskey(owner, { context, account: owner })
      await expect(start).rejects.toThrow(error('passkeys_unavailable'))
      expect(await elsewhere.summary(owner)).toMatchObject({ canUsePasskeys: false })
    })

    test('is available on localhost', async () => {
      const local = createFactors('http://localhost:4280')
      const options = await local.startPasskey(newOwner(), { context, account: 'ada' })
      expect(options.rp).toEqual({ id: 'localhost', name: 'Test' })
    })
  })

  test('are all removed by a reset', async () => {
    const { owner } = await withTotp()
    await withPasskey(owner)
    await factors.removeAll(owner)
    expect(await storedItem(owner)).toBeUndefined()
    expect(changes.at(-1)).toEqual({ kind: 'removed_all' })
    await expect(factors.removeAll(owner)).rejects.toThrow(error('not_enrolled'))
  })
})

function fromBase32(text: string): Uint8Array {
  const bits = Array.from(text, (letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  ).join('')
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2))
}
