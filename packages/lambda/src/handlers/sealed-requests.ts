import { sealedService } from '@strongroom/sealed/service'
import { serviceHandler } from '../service-handler.ts'

export const handler = serviceHandler('sealed-requests', sealedService)
