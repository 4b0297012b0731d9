import type { Deployment } from "kubernetes-types/apps/v1.d.ts";
import type { Job } from "kubernetes-types/batch/v1.d.ts";
import type { PersistentVolumeClaim, Service } from "kubernetes-types/core/v1.d.ts";
import type { NetworkPolicy } from "kubernetes-types/networking/v1.d.ts";
import type { PodDisruptionBudget } from "kubernetes-types/policy/v1.d.ts";

/** The objects of Kubernetes itself that the chart may contain. Their schemas are made from these types. */
export interface KubernetesObjects {
  readonly Deployment: Deployment;
  readonly Job: Job;
  readonly PersistentVolumeClaim: PersistentVolumeClaim;
  readonly Service: Service;
  readonly NetworkPolicy: NetworkPolicy;
  readonly PodDisruptionBudget: PodDisruptionBudget;
}
