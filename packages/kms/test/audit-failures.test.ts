import { writeSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Append, openAuditFile } from '../src/audit.ts'
import { verifyAudit } from '../src/audit-verify.ts'
import { KmsError } from '../src/errors.ts'
import { serveKms } from '../src/serve.ts'
import { freshDirectory, freshKms } from './support/kms.ts'
import { credentials, send, signed } from './support/serve.ts'

/** A KMS whose next record is appended in another way than the others. */
async function audited(next: Append) {
  const path = join(freshDirectory(), 'audit.jsonl')
  const ways: Append[] = [writeSync, next]
  const { audit, close } = openAuditFile(path, (fd, bytes) =>
    (ways.shift() ?? writeSync)(fd, bytes),
  )
  onTestFinished(close)
  return { path, ...(await freshKms({ audit })) }
}

function full(): never {
  const { ENOSPC } = constants.errno
  throw Object.assign(new Error('ENOSPC: no space left on device, write'), {
    code: 'ENOSPC',
    errno: -ENOSPC,
    syscall: 'write',
  })
}

test('a call that cannot be recorded on a full disk fails with one line that says what to do', async () => {
  const { path, kms } = await audited(full)
  const refused = await kms.listKeys({}).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(KmsError)
  expect(refused).toMatchObject({
    name: 'KMSInternalException',
    statusCode: 500,
    message: `Cannot write the audit log "${path}": no space is left on its disk. Free some space and try again. The KMS answers no call that it cannot record`,
  })
})

test('a partially written record also fails the call, and the log continues when there is room', async () => {
  const { path, kms } = await audited((fd, bytes) => writeSync(fd, bytes.subarray(0, 20)))
  await expect(kms.listKeys({})).rejects.toMatchObject({
    name: 'KMSInternalException',
    message: expect.stringMatching(/^Cannot write the audit log ".+": .*free space/),
  })
  await kms.listKeys({})
  expect(await verifyAudit(path)).toMatchObject({ records: 2, findings: [{ kind: 'torn' }] })
})

test('a log that cannot be opened is also reported in one line', () => {
  const path = freshDirectory()
  expect(() => openAuditFile(path)).toThrow(KmsError)
  expect(() => openAuditFile(path)).toThrow(`Cannot write the audit log "${path}": EISDIR`)
})

test('over HTTP the client is asked to retry, and only the operator sees the path', async () => {
  const { path, kms } = await audited(full)
  const reported: unknown[] = []
  const onFailure = (error: unknown) => void reported.push(error)
  const server = await serveKms(kms, { port: 0, credentials: [credentials], onFailure })
  onTestFinished(() => server.close())
  const request = await signed(server, 'TrentService.ListKeys', '{}')
  expect(await send(server, request)).toMatchObject({
    status: 500,
    body: {
      __type: 'KMSInternalException',
      message: 'The KMS cannot answer now: try again later',
    },
  })
  expect(reported).toEqual([
    expect.objectContaining({ message: expect.stringContaining(`audit log "${path}": no space`) }),
  ])
  expect(await send(server, request)).toMatchObject({ status: 200 })
  expect(reported).toHaveLength(1)
})
