/** The faces of the embedded KMS that AWS's libraries can use: within the process, and over HTTP. */
import { KMSClient } from '@aws-sdk/client-kms'
import { createAwsKms } from '@strongroom/kit/aws-kms'
import type { Kms } from '@strongroom/kit/kms'
import type { EmbeddedKms } from '@strongroom/kms/kms'
import { embedded } from '@strongroom/kms/sdk'
import { serveKms } from '@strongroom/kms/serve'

export interface KmsFace {
  name: string
  /** For AWS's libraries a client of the SDK; for us the KMS as the server would have it. */
  open(kms: EmbeddedKms): Promise<{ client: KMSClient; kms: Kms; close(): Promise<void> }>
}

export function kmsFaces(): KmsFace[] {
  return [inProcess, overHttp]
}

const inProcess: KmsFace = {
  name: 'KMS in process',
  async open(kms) {
    const client = new KMSClient({ ...embedded(kms) })
    return { client, kms, close: async () => client.destroy() }
  },
}

const overHttp: KmsFace = {
  name: 'KMS over HTTP',
  async open(embeddedKms) {
    const credentials = { accessKeyId: 'interop', secretAccessKey: 'interop-secret' }
    const server = await serveKms(embeddedKms, { port: 0, credentials: [credentials] })
    const config = {
      region: embeddedKms.region,
      endpoint: `http://127.0.0.1:${server.port}`,
      credentials,
    }
    const client = new KMSClient(config)
    const kms = createAwsKms(config)
    return {
      client,
      kms,
      async close() {
        client.destroy()
        kms.close()
        await server.close()
      },
    }
  },
}
