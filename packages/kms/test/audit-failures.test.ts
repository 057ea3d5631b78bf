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

test('a call that a full disk cannot record is refused in one line that says what to do', async () => {
  const { path, kms } = await audited(full)
  const refused = await kms.listKeys({}).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(KmsError)
  expect(refused).toMatchObject({
    name: 'KMSInternalException',
    statusCode: 500,
    message: `Cannot write the audit log "${path}": no space is left on its disk. Free some space and try again. The KMS answers no call that it cannot record`,
  })
})

test('so is one of which only a part is written, and the log goes on once there is room', async () => {
  const { path, kms } = await audited((fd, bytes) => writeSync(fd, bytes.subarray(0, 20)))
  await expect(kms.listKeys({})).rejects.toMatchObject({
    name: 'KMSInternalException',
    message: expect.stringMatching(/^Cannot write the audit log ".+": .*free space/),
  })
  await kms.listKeys({})
  expect(await verifyAudit(path)).toMatchObject({ records: 2, findings: [{ kind: 'torn' }] })
})

test('a log that cannot be opened is told in one line too', () => {
  const path = freshDirectory()
  expect(() => openAuditFile(path)).toThrow(KmsError)
  expect(() => openAuditFile(path)).toThrow(`Cannot write the audit log "${path}": EISDIR`)
})

test('over HTTP the caller is told to come back, and only whoever runs the KMS of the path', async () => {
  const { path, kms } = await audited(full)
  const told: unknown[] = []
  const onFailure = (error: unknown) => void told.push(error)
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
  expect(told).toEqual([
    expect.objectContaining({ message: expect.stringContaining(`audit log "${path}": no space`) }),
  ])
  expect(await send(server, request)).toMatchObject({ status: 200 })
  expect(told).toHaveLength(1)
})
