{{- define "causeway.selector" -}}
app.kubernetes.io/name: causeway
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "causeway.labels" -}}
{{ include "causeway.selector" . }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end }}

{{- /* Spec of every pod, before its containers. */ -}}
{{- define "causeway.pod" -}}
automountServiceAccountToken: false
{{- if .values.serviceAccountName }}
serviceAccountName: {{ .values.serviceAccountName | quote }}
{{- end }}
{{- if .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml .root.Values.imagePullSecrets | nindent 2 }}
{{- end }}
enableServiceLinks: false
terminationGracePeriodSeconds: {{ .root.Values.terminationGracePeriodSeconds }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              {{- include "causeway.selector" . | nindent 14 }}
{{- end }}

{{- /* Of every container. */ -}}
{{- define "causeway.container" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
resources:
  {{- toYaml .resources | nindent 2 }}
{{- end }}

{{- /* Settings of a process; its own override the shared ones. */ -}}
{{- define "causeway.env" -}}
{{- $own := .own }}
{{- range $name, $value := .shared }}
{{- if not (hasKey $own $name) }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- range $name, $value := .own }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{- /* Secrets as files. Files are read in alphabetical order: own values override shared ones. */ -}}
{{- define "causeway.secrets" -}}
- name: {{ .name }}
  projected:
    # Decimal for 0440: the group is fsGroup.
    defaultMode: 288
    sources:
      {{- range .shared }}
      - secret:
          name: {{ . | quote }}
          items: [{ key: env, path: 1-{{ . }} }]
      {{- end }}
      {{- range .own }}
      - secret:
          name: {{ . | quote }}
          items: [{ key: env, path: 2-{{ . }} }]
      {{- end }}
{{- end }}

{{- /* Volumes of API, worker and oracle, next to their secrets. */ -}}
{{- define "causeway.volumes" -}}
- name: tmp
  emptyDir: { sizeLimit: 64Mi }
{{- if .Values.configMap }}
- name: configs
  configMap: { name: {{ .Values.configMap | quote }} }
{{- end }}
{{- end }}

{{- define "causeway.mounts" -}}
- { name: tmp, mountPath: /tmp }
- { name: secrets, mountPath: /vault/secrets, readOnly: true }
{{- if .Values.configMap }}
- { name: configs, mountPath: /app/configs, readOnly: true }
{{- end }}
{{- end }}

{{- /* The token of GET /metrics, which Prometheus reads from the same Secret. */ -}}
{{- define "causeway.metricsEnv" -}}
{{- if .Values.metrics.tokenSecret }}
- name: METRICS_TOKEN_FILE
  value: /vault/metrics/token
{{- end }}
{{- end }}

{{- define "causeway.metricsMount" -}}
{{- if .Values.metrics.tokenSecret }}
- { name: metrics, mountPath: /vault/metrics, readOnly: true }
{{- end }}
{{- end }}

{{- define "causeway.metricsVolume" -}}
{{- if .Values.metrics.tokenSecret }}
- name: metrics
  secret:
    secretName: {{ .Values.metrics.tokenSecret | quote }}
    defaultMode: 288
    items: [{ key: {{ .Values.metrics.tokenKey | quote }}, path: token }]
{{- end }}
{{- end }}

{{- /* A probe of each kind; the first waits up to two minutes for a process to start. */ -}}
{{- define "causeway.probes" -}}
startupProbe:
  httpGet: { path: {{ .live }}, port: http }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: {{ .live }}, port: http }
  periodSeconds: 10
  timeoutSeconds: 3
  failureThreshold: 3
readinessProbe:
  httpGet: { path: {{ .ready }}, port: http }
  periodSeconds: 5
  timeoutSeconds: 3
  failureThreshold: 2
{{- end }}

{{- /* Probes of a signer process, which listens on a socket. */ -}}
{{- define "causeway.signerProbes" -}}
startupProbe:
  exec:
    command: &probe
      - node
      - -e
      - >-
        require("node:http").get({ socketPath: "{{ .socket }}", path: "/health/live", timeout: 2000 },
        (answer) => process.exit(answer.statusCode === 200 ? 0 : 1))
        .on("timeout", () => process.exit(1)).on("error", () => process.exit(1))
  periodSeconds: 2
  timeoutSeconds: 5
  failureThreshold: 60
livenessProbe:
  exec: { command: *probe }
  periodSeconds: 20
  timeoutSeconds: 5
  failureThreshold: 3
{{- end }}
