/** Sealed on its functions: secrets, receipts, API tokens, the page and the sweep. */
import type { Db } from '@strongroom/kit/db'
import { createSealedApi } from '@strongroom/sealed/client/api'
import { openSecret } from '@strongroom/sealed/client/open-secret'
import { sealSecret } from '@strongroom/sealed/client/seal-secret'
import { deriveKeys } from '@strongroom/sealed/crypto/keys'
import { newClaim } from '@strongroom/sealed/crypto/seal'
import { secretsTable } from '@strongroom/sealed/tables'
import { expect, test } from 'vitest'
import type { TestDeployment } from '../support/scenario.ts'

/** Ten minutes ago, which is longer than the token of a creation is valid. */
async function backdate(db: Db, id: string, attribute: string): Promise<void> {
  await db.updateItem({
    TableName: secretsTable.name,
    Key: { id },
    UpdateExpression: 'SET #attribute = :at',
    ExpressionAttributeNames: { '#attribute': attribute },
    ExpressionAttributeValues: { ':at': Math.floor(Date.now() / 1000) - 600 },
  })
}

export function testSealed(opened: () => TestDeployment): void {
  test('keep a secret that opens once, and end what is over', async () => {
    const { deployment, server, admin } = opened()
    const secrets = createSealedApi({
      base: 'https://strongroom.example/sealed/',
      fetch: async (url, init) => deployment.fetch(new Request(url, init)),
    })
    const seal = (passphrase?: string) =>
      sealSecret(secrets, {
        content: 'hunter2',
        ttlSeconds: 3600,
        maxViews: 1,
        receipt: true,
        passphrase,
      })
    const { secret, management } = await seal()
    const { id } = secret
    const keys = await deriveKeys(secret.fragment)
    const claim = newClaim()
    expect(await openSecret(secrets, { id, keys, claim })).toMatchObject({ content: 'hunter2' })
    await secrets.ack(id, claim)
    await expect(openSecret(secrets, { id, keys, claim: newClaim() })).rejects.toThrow()
    expect(await secrets.receipt(id, management.burnToken)).toMatchObject({ state: 'viewed' })
    const burned = await seal()
    await secrets.burn(burned.secret.id, burned.management.burnToken)
    const sealPlain = () =>
      sealSecret(secrets, { content: 'hunter2', ttlSeconds: 3600, maxViews: 1 })
    const [ended, expired, unread] = [await sealPlain(), await sealPlain(), await seal()]
    await backdate(server.db, ended.secret.id, 'createdAt')
    await secrets.burn(ended.secret.id, ended.management.burnToken)
    for (const { secret: over } of [expired, unread]) {
      await backdate(server.db, over.id, 'createdAt')
      await backdate(server.db, over.id, 'expiresAt')
    }
    await deployment.invoke('sealed-sweep', { source: 'aws.events' })
    const created = await server.ask('POST', '/sealed/v1/api-tokens', {
      token: admin,
      body: { name: 'ci' },
    })
    const withToken = createSealedApi({
      base: 'https://strongroom.example/sealed/',
      apiToken: created.body.token,
      fetch: async (url, init) => deployment.fetch(new Request(url, init)),
    })
    await sealSecret(withToken, { content: 'hunter2', ttlSeconds: 3600, maxViews: 1 })
    const page = await deployment.fetch(new Request('https://strongroom.example/sealed/'))
    expect(page.status).toBe(200)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  })
}
