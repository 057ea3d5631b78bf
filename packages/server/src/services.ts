/** The services of this product, in the order in which people see them. */
import { ferryhookService } from '@strongroom/ferryhook/service'
import { formBridgeService } from '@strongroom/form-bridge/service'
import { keyStoreService } from '@strongroom/key-store/service'
import type { Service } from '@strongroom/kit/service'
import { sealedService } from '@strongroom/sealed/service'
import { twoKeyService } from '@strongroom/two-key/service'
import type { ServerCapabilities } from './service-deps.ts'

export const services: readonly Service<ServerCapabilities>[] = [
  sealedService,
  ferryhookService,
  formBridgeService,
  keyStoreService,
  twoKeyService,
]

export const serviceNames: readonly string[] = services.map(({ name }) => name)
