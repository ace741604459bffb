"""The attention controller in PyTorch, with given parameters, for a comparison of speed."""

import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)


class TorchController:
    def __init__(self, params: dict, context, agent):
        self._heads, self._channels = agent.task.num_heads, agent.controller.channels
        self._xi, self._sigma = (_tensor(x) for x in (context.xi, context.sigma))
        self._mask = torch.tensor(np.asarray(context.mask))
        # As main_jax.controller.network.sharpness has it.
        self._sharpness = (torch.log(self._mask.sum(1)) / np.log(32))[:, None, None]
        self._params = []

        def parameter(x, transpose=None):
            x = np.asarray(x).transpose(transpose) if transpose else np.asarray(x)
            self._params.append(_tensor(x).requires_grad_())
            return self._params[-1]

        self._convolutions = [  # flax has [width, in, out], PyTorch [out, in, width]
            (parameter(layer["kernel"], (2, 1, 0)), parameter(layer["bias"]))
            for layer in (params["convolutions_0"], params["convolutions_1"])
        ]
        self._attention = parameter(params["tape_encoder"]["queries"])
        self._dense = {
            name: (parameter(params[name]["kernel"], (1, 0)), parameter(params[name]["bias"]))
            for name in ("hidden_0", "queries", "module", "value")
        }

    def forward(self):
        """Head logits, module logits and value, in the order of ControllerOutput's fields."""
        cells = self._sigma.transpose(1, 2)  # [N, S, L]
        for kernel, bias in self._convolutions:
            cells = F.relu(F.conv1d(cells, kernel, bias, padding=1)) * self._mask[:, None]
        logits = self._sharpness * (self._attention @ cells)  # [N, K, L]
        logits = logits.masked_fill(~self._mask[:, None], -1e9)
        pooled = torch.softmax(logits, dim=-1) @ cells.transpose(1, 2)
        hidden = torch.cat([pooled.flatten(1), self._xi], dim=-1)
        hidden = F.relu(F.linear(hidden, *self._dense["hidden_0"]))
        queries = F.linear(hidden, *self._dense["queries"])
        queries = queries.view(-1, self._heads, self._channels) * self._channels**-0.5
        queries = queries * self._sharpness
        heads = (queries @ cells).masked_fill(~self._mask[:, None], -1e9)
        module = F.linear(hidden, *self._dense["module"])
        return heads, module, F.linear(hidden, *self._dense["value"])[:, 0]

    def forward_and_backward(self):
        loss = sum(x.square().sum() for x in self.forward())
        return torch.autograd.grad(loss, self._params)


def _tensor(x) -> torch.Tensor:
    return torch.tensor(np.asarray(x, np.float32))
